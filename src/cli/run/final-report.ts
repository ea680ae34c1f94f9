import type { ParsedRequest } from '../arguments/request.ts'
import type { EventGate } from './event-gate.ts'
import type { Invocation } from '../invocation.ts'
import { EXIT } from '../../library/exit-codes.ts'
import type { NextCommand, NextPurpose } from '../printed-commands/next-command.ts'
import type { PrintedCommand } from '../printed-commands/printed-command.ts'
import { endCommand, liftCommand } from '../printed-commands/order-command.ts'
import { runReport, type RunFacts, type RunReport } from '../output/run-report.ts'
import { resumeCommand, undoneUnnamed } from '../printed-commands/resume-command.ts'
import type { SharedFlags } from '../printed-commands/shared-flags.ts'
import { templateCommand, templateCommands } from '../printed-commands/template-command.ts'
import { undoCommands } from '../printed-commands/undo-command.ts'

export interface EndedRun extends Pick<RunFacts, 'result' | 'plan' | 'exitCode' | 'startedAt' | 'finishedAt' | 'warnings'> {
  /** What somebody has ordered of it, and not taken back. */
  given: ReturnType<EventGate['order']>
  /** Nothing of it is open, though it did not end well. */
  isOver: boolean
}

/** How a run ended, and what there is to run after it. */
export function finalReport(ended: EndedRun, order: Order, env: NodeJS.ProcessEnv): RunReport {
  const { result, given, isOver, exitCode, ...facts } = ended
  const isAborting = order.aborts === true || given?.order === 'abort'
  const goesOn = !isOver && exitCode !== EXIT.done && exitCode !== EXIT.preflight && result.outcome !== 'aborted'
  // That the order stands is said: the command that takes the run back would read as one that takes the order back.
  const abortStands = isAborting && result.outcome === 'interrupted'
  const pausedBy = goesOn && given?.order === 'pause' ? given.by : undefined
  const { backToTemplate, undo, followTemplate, end, liftPause, goOn } = commandsAfter(ended, order, env)
  // The way back comes first: the way on is what has just failed. But an abort that has failed fails again where the wanted image
  // does not exist: the images of the template bring the pod home.
  const templateIsLast = result.outcome === 'failed'
  const next = [
    ...(templateIsLast ? [] : backToTemplate),
    ...(abortStands ? [] : undo),
    ...(isOver ? followTemplate : []),
    // To an abort it is the same command.
    ...(goesOn && !isAborting ? end : []),
    ...(pausedBy === undefined ? [] : liftPause),
    ...(goesOn ? goOn : []),
    ...(templateIsLast ? backToTemplate : []),
  ]
  return runReport({ ...facts, result, exitCode, next, abortStands: goesOn && abortStands, pausedBy })
}

interface Order {
  request: Pick<ParsedRequest, 'undo'>
  flags: SharedFlags
  invocation: Invocation
  aborts?: boolean
}

/** All that could be run after it, by what it is for. */
function commandsAfter(
  { result, plan }: Pick<EndedRun, 'result' | 'plan'>,
  { request, flags, invocation }: Order,
  env: NodeJS.ProcessEnv,
): Record<NextPurpose, NextCommand[]> {
  const all = (to: NextPurpose, commands: readonly PrintedCommand[]): NextCommand[] => commands.map((one) => ({ to, ...one }))
  const end = endCommand(result, plan, flags, invocation, env)
  return {
    backToTemplate: (result.mixed ?? []).map(({ workload }) => ({
      to: 'backToTemplate',
      workload,
      ...templateCommand(workload, flags, invocation, env),
    })),
    undo: all('undo', undoCommands(result, plan, flags, invocation, env)),
    followTemplate: all('followTemplate', templateCommands(plan.workloads, flags, invocation, env)),
    end: all('end', end === undefined ? [] : [end]),
    liftPause: all('liftPause', [liftCommand(plan, flags, invocation, env)]),
    goOn: all('goOn', [resumeCommand(invocation, flags, env, undoneUnnamed(request, plan))]),
  }
}
