import type { Abort } from '../../library/orders.ts'
import type { Sluice } from '../../library/create-sluice.ts'
import { displayName } from '../../pods/workload-id.ts'
import type { CommandContext } from '../commands/context.ts'
import { writingFor } from '../printed-commands/writing.ts'
import { EXIT, type ExitCode } from '../../library/exit-codes.ts'
import { failureOf, type Failure } from '../failures.ts'
import type { AbortFlags } from '../arguments/flags.ts'
import { watchInterrupts } from '../run/interrupts.ts'
import { createLogger } from '../log.ts'
import { abortInterrupted, orderStands } from '../run/order-stands.ts'
import { inert } from '../output/inert.ts'
import { orderOutput, type OrderReport } from '../output/order-view.ts'
import { reportFailure } from '../report-failure.ts'
import { parseRequest } from '../arguments/request.ts'
import type { NextCommand } from '../printed-commands/next-command.ts'
import { resumeCommand } from '../printed-commands/resume-command.ts'
import { templateCommand, templateCommands } from '../printed-commands/template-command.ts'
import type { WorkloadId } from '../../pods/workload-id.ts'
import type { MixedWorkload } from '../../journal/ledger.ts'
import type { Reason } from '../../reasons/reason.ts'
import type { PrintedCommand } from '../printed-commands/printed-command.ts'
import { abortRequest } from '../run/upgrade-request.ts'

/** Orders the abort, and waits for the process that has the run. Where no process has it, the command aborts the run itself. */
export async function abortAction(args: readonly string[], flags: AbortFlags, context: CommandContext): Promise<ExitCode> {
  const { terminal, invocation } = context
  const request = parseRequest(args, flags, 'abort')
  const { configPath, openCluster, readConfig, sluiceOf } = await import('../world.ts')
  // The import comes before the order: no signal may fall between two listeners while a module loads.
  const { runUpgrade } = await import('../run/run-upgrade.ts')
  // An invalid log level is refused here, before the order is given.
  await createLogger(flags.verbose === true, terminal)
  const { shell: resume } = resumeCommand(invocation, flags, terminal.env)
  let sluice: Sluice | undefined
  const write = writingFor({ flags, invocation }, terminal.env)
  function tell(error: unknown, touched: boolean): Failure {
    const failure = failureOf(error, { touched }, write)
    reportFailure(failure, flags, terminal)
    return failure
  }
  let isOrdered = false
  // The wait can last for hours. The first process of a container ignores signals that it does not listen to.
  const interrupts = watchInterrupts({
    events: terminal.events,
    now: () => terminal.clock.now(),
    exit: (code, cause) => {
      if ('signal' in cause) terminal.err.write(abortInterrupted(cause, resume))
      else {
        tell(cause.bug, isOrdered)
        if (isOrdered) terminal.err.write(orderStands(resume))
      }
      terminal.exit(code)
    },
  })
  let notice = (line: string): void => void terminal.err.write(`${inert(line)}\n`)
  let left: Extract<Abort, { outcome: 'abandoned' }> | undefined
  try {
    const cluster = await openCluster(flags, request.requestTimeoutMs, terminal, (line) => notice(line))
    sluice = sluiceOf(cluster, terminal, () => readConfig(configPath(flags.config, terminal.env)))
    let told = ''
    const abort = await sluice.abort(abortRequest(request), {
      wait: flags.wait,
      onOrdered: () => void (isOrdered = true),
      onWaiting(open, holder) {
        if (told !== holder) terminal.err.write(`${inert(runsOf(open))}: the abort is ordered; waits for ${inert(holder)}\n`)
        told = holder
      },
    })
    if (abort.outcome !== 'abandoned') return tellOf(abort, sluice.cluster.namespace, flags, context)
    left = abort
  } catch (error) {
    if (!isOrdered) throw error
    const failure = tell(error, true)
    terminal.err.write(orderStands(resume))
    // An error that is no bug means that the cluster can no longer be watched.
    return failure.stack === undefined ? EXIT.deadline : failure.code
  } finally {
    interrupts.dispose()
    if (left === undefined) await sluice?.close()
  }
  // `runUpgrade` listens to signals from its start.
  const { end } = left
  const opened = sluice
  return runUpgrade(
    { request, flags, invocation, aborts: true },
    {
      terminal,
      async openSluice(shown) {
        if (shown !== undefined) notice = shown
        return opened
      },
      start: end,
    },
  )
}

/** Prints the result of the order, where no work is left. */
function tellOf(
  abort: Exclude<Abort, { outcome: 'abandoned' }>,
  namespace: string,
  flags: AbortFlags,
  { terminal, invocation }: CommandContext,
): ExitCode {
  const runs = [...abort.runs]
  const {
    outcome,
    reason,
    code = EXIT.done,
    next = [],
    mixed = [],
  } = toldAs(abort, {
    toTemplate: (concerned) => templateCommands(concerned, flags, invocation, terminal.env),
    backToTemplate: (workload) => templateCommand(workload, flags, invocation, terminal.env),
  })
  const workloads = abort.workloads.map(displayName)
  const report: OrderReport = {
    order: 'abort',
    namespace,
    workloads,
    runs,
    outcome,
    reason,
    ...(mixed.length === 0 ? {} : { mixed: [...mixed] }),
    next,
  }
  terminal.out.write(orderOutput(report, flags.output, writingFor({ flags, invocation }, terminal.env)))
  return code
}

type Told = Pick<OrderReport, 'outcome' | 'reason'> & { mixed?: readonly MixedWorkload[]; next?: NextCommand[]; code?: ExitCode }

function toldAs(
  abort: Exclude<Abort, { outcome: 'abandoned' }>,
  commands: {
    toTemplate(concerned: readonly WorkloadId[]): PrintedCommand[]
    backToTemplate(workload: string): PrintedCommand
  },
): Told {
  const { outcome, asked, holder } = abort
  const open = { asked, runs: [...abort.runs] }
  switch (outcome) {
    case 'ordered':
      return { outcome, reason: { code: 'abort-given', ...open } }
    case 'finished':
      return { outcome, reason: { code: 'ended-before-abort', ...open } }
    case 'none': {
      const found = [...abort.unrecorded]
      if (found.length > 0)
        return { outcome: 'left', reason: { code: 'left-without-record', asked, found }, code: EXIT.needsOperator }
      const by = holder === undefined ? {} : { holder }
      return { outcome, reason: { code: 'nothing-to-order', order: 'abort', asked, ...by } }
    }
    case 'aborted': {
      const left = [...abort.templatesLeft]
      const reason: Reason = { code: 'abort-done', ...open, left }
      const back = abort.mixed.map(
        ({ workload }) => ({ to: 'backToTemplate', workload, ...commands.backToTemplate(workload) }) as const,
      )
      if (left.length === 0) return { outcome, reason, mixed: abort.mixed, next: back }
      const follow = commands.toTemplate(abort.concerned).map((one) => ({ to: 'followTemplate', ...one }) as const)
      return { outcome: 'left', reason, code: EXIT.conflict, mixed: abort.mixed, next: [...back, ...follow] }
    }
  }
}

function runsOf({ runs, asked }: Pick<Abort, 'runs' | 'asked'>): string {
  return `run ${runs.join(', ')} of ${asked}`
}
