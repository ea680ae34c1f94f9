import type { Abort } from '../../library/orders.ts'
import type { Sluice } from '../../library/create-sluice.ts'
import { displayName } from '../../pods/workload-id.ts'
import type { CommandContext } from '../commands/context.ts'
import { writingFor } from '../printed-commands/writing.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
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
import { templateCommands } from '../printed-commands/template-command.ts'
import { unrecordedWords } from '../../report/words/unrecorded.ts'
import { choiceOf } from '../run/upgrade-request.ts'

/** Orders it, and waits for who has the run; does it itself where nobody has. */
export async function abortAction(args: readonly string[], flags: AbortFlags, context: CommandContext): Promise<ExitCode> {
  const { terminal, invocation } = context
  const request = parseRequest(args, flags, 'abort')
  const { configPath, openCluster, readConfig, sluiceOf } = await import('../world.ts')
  // Before there is an order: no signal may fall between one who hears it and the next while this is loaded.
  const { runUpgrade } = await import('../run/run-upgrade.ts')
  // A level that is none is refused here already, and not when it is the order's turn to be done.
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
  // It may wait for hours, and as the first process of a container it would not even hear a signal.
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
  let left: Extract<Abort, { outcome: 'left' }> | undefined
  try {
    const cluster = await openCluster(flags, request.requestTimeoutMs, terminal, (line) => notice(line))
    sluice = sluiceOf(cluster, terminal, () => readConfig(configPath(flags.config, terminal.env)))
    let told = ''
    const abort = await sluice.abort(choiceOf(request), {
      wait: flags.wait,
      onOrdered: () => void (isOrdered = true),
      onWaiting(open, holder) {
        if (told !== holder) terminal.err.write(`${inert(runsOf(open))}: the abort is ordered; waits for ${inert(holder)}\n`)
        told = holder
      },
    })
    if (abort.outcome !== 'left') return tellOf(abort, sluice.cluster.namespace, flags, context)
    left = abort
  } catch (error) {
    if (!isOrdered) throw error
    const failure = tell(error, true)
    terminal.err.write(orderStands(resume))
    // What is no bug is a cluster that cannot be watched any more.
    return failure.stack === undefined ? EXIT.deadline : failure.code
  } finally {
    interrupts.dispose()
    if (left === undefined) await sluice?.close()
  }
  // It hears signals from its first moment on.
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

/** Says what came of it, where all is said and done. */
function tellOf(
  abort: Exclude<Abort, { outcome: 'left' }>,
  namespace: string,
  flags: AbortFlags,
  { terminal, invocation }: CommandContext,
): ExitCode {
  const { runs, asked, workloads } = abort
  const write = writingFor({ flags, invocation }, terminal.env)
  const what = runsOf(abort)
  function end(outcome: OrderReport['outcome'], message: string, code: ExitCode = EXIT.done, next: NextCommand[] = []): ExitCode {
    const report: OrderReport = {
      order: 'abort',
      namespace,
      workloads: workloads.map(displayName),
      runs: [...runs],
      outcome,
      message,
      next,
    }
    terminal.out.write(orderOutput(report, flags.output))
    return code
  }

  switch (abort.outcome) {
    case 'ordered':
      return end('ordered', `${what}: the abort is ordered; sluice status shows what becomes of it`)
    case 'finished':
      return end('finished', `${what} had come to its end before the order reached it`)
    case 'none': {
      const { unrecorded } = abort
      if (unrecorded.length === 0) {
        const { holder } = abort
        return end(
          'none',
          write.reason({ code: 'nothing-to-order', order: 'abort', asked, ...(holder === undefined ? {} : { holder }) }),
        )
      }
      const message = `no open run of ${asked} is on record, but ${unrecordedWords(unrecorded, write)}`
      return end('left', message, EXIT.needsOperator)
    }
    case 'aborted': {
      const { left, concerned } = abort
      if (left.length === 0) return end('aborted', `${what} is aborted`)
      const commands = templateCommands(concerned, flags, invocation, terminal.env).map(
        (one) => ({ to: 'followTemplate', ...one }) as const,
      )
      return end('left', `${what} is aborted, but ${left.map((one) => write.reason(one)).join('; ')}`, EXIT.conflict, commands)
    }
  }
}

function runsOf({ runs, asked }: Pick<Abort, 'runs' | 'asked'>): string {
  return `run ${runs.join(', ')} of ${asked}`
}
