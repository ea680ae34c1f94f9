import type { ParsedRequest } from '../arguments/request.ts'
import type { EventGate } from './event-gate.ts'
import type { Invocation } from '../invocation.ts'
import { mixedWorkloads } from '../printed-commands/mixed-workloads.ts'
import { endCommand, liftCommand } from '../printed-commands/order-command.ts'
import { runReport, type RunFacts, type RunReport } from '../output/run-report.ts'
import { resumeCommand, undoneUnnamed } from '../printed-commands/resume-command.ts'
import type { SharedFlags } from '../printed-commands/shared-flags.ts'
import { templateCommands } from '../printed-commands/template-command.ts'
import { undoCommands } from '../printed-commands/undo-command.ts'

export interface EndedRun extends Pick<RunFacts, 'result' | 'plan' | 'exitCode' | 'startedAt' | 'finishedAt' | 'warnings'> {
  /** What somebody has ordered of it, and not taken back. */
  given: ReturnType<EventGate['order']>
  /** Nothing of it is open, though it did not end well. */
  isOver: boolean
}

/** How a run ended, and what there is to type after it. */
export function finalReport(
  { result, plan, given, isOver, ...facts }: EndedRun,
  {
    request,
    flags,
    invocation,
    aborts = false,
  }: { request: Pick<ParsedRequest, 'undo'>; flags: SharedFlags; invocation: Invocation; aborts?: boolean },
  env: NodeJS.ProcessEnv,
): RunReport {
  const isAborting = aborts || given?.order === 'abort'
  // Found by a reader: an interrupted abort said how to take "it" back, which is the release, and read as the abort; that it stands
  // was not said.
  const abortStands = isAborting && result.outcome === 'interrupted'
  return runReport({
    ...facts,
    result,
    plan,
    mixed: mixedWorkloads(result, flags, invocation, env),
    undoCommands: abortStands ? [] : undoCommands(result, plan, flags, invocation, env),
    templateCommands: isOver ? templateCommands(plan.workloads, flags, invocation, env) : [],
    resumeCommand: isOver ? undefined : resumeCommand(invocation, flags, env, undoneUnnamed(request, plan)),
    // To an abort it is the same command.
    endCommand: isAborting ? undefined : endCommand(result, plan, flags, invocation, env),
    abortStands,
    pause: given?.order === 'pause' ? { by: given.by, liftCommand: liftCommand(plan, flags, invocation, env) } : undefined,
  })
}
