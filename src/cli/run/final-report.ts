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
  /** The order that stands for the run. */
  given: ReturnType<EventGate['order']>
  /** True where nothing of the run is open, although it failed. */
  isOver: boolean
}

/** Builds the report of a run, with the commands to run next. */
export function finalReport(ended: EndedRun, order: Order, env: NodeJS.ProcessEnv): RunReport {
  const { result, given, isOver, exitCode, ...facts } = ended
  const isAborting = order.aborts === true || given?.order === 'abort'
  const goesOn = !isOver && exitCode !== EXIT.done && exitCode !== EXIT.preflight && result.outcome !== 'aborted'
  // The report says that the order stands. The undo command would read as one that takes the order back.
  const abortStands = isAborting && result.outcome === 'interrupted'
  const pausedBy = goesOn && given?.order === 'pause' ? given.by : undefined
  const { backToTemplate, undo, followTemplate, end, liftPause, goOn } = commandsAfter(ended, order, env)
  // The way back comes first, since the way on has just failed. A failed abort fails again where the wanted image does not exist; the
  // images of the template bring the pod home.
  const templateIsLast = result.outcome === 'failed'
  const next = [
    ...(templateIsLast ? [] : backToTemplate),
    ...(abortStands ? [] : undo),
    ...(isOver ? followTemplate : []),
    // For an abort, `end` and `goOn` are one command.
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

/** Returns all commands that could follow the run, by purpose. */
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
