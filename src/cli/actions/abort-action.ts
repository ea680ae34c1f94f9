import type { OpenRuns } from '../../engine/orders/open-runs.ts'
import type { OrderedAbort } from '../../engine/orders/order-abort.ts'
import type { RunRequest } from '../../engine/run.ts'
import { displayName } from '../../workloads/resources.ts'
import type { CommandContext } from '../commands/context.ts'
import { completeFor } from '../printed-commands/complete-commands.ts'
import { completeFailure } from '../printed-commands/complete-events.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { failureOf, type Failure } from '../failures.ts'
import type { AbortFlags } from '../arguments/flags.ts'
import { watchInterrupts } from '../run/interrupts.ts'
import { createLogger } from '../log.ts'
import { abortInterrupted, orderStands } from '../run/order-stands.ts'
import { mayBegin } from './asked-for-holder.ts'
import { orderGiver } from './order-giver.ts'
import { inert } from '../output/inert.ts'
import { orderOutput, type OrderReport } from '../output/order-view.ts'
import { reportFailure } from '../report-failure.ts'
import { parseRequest } from '../arguments/request.ts'
import { resumeCommand } from '../printed-commands/resume-command.ts'
import { templateCommands } from '../printed-commands/template-command.ts'
import { unrecordedWords } from './unrecorded-words.ts'
import type { Cluster } from '../world.ts'

/** Orders it, and waits for who has the run; does it itself where nobody has. */
export async function abortAction(args: readonly string[], flags: AbortFlags, context: CommandContext): Promise<ExitCode> {
  const { terminal, invocation } = context
  const request = parseRequest(args, flags, 'abort')
  const by = orderGiver(terminal.env)
  const { configPath, openCluster, openWorld } = await import('../world.ts')
  // Before there is an order: no signal may fall between one who hears it and the next while these are loaded.
  const { prepareAbort } = await import('../../engine/orders/abort.ts')
  const { runUpgrade } = await import('../run/run-upgrade.ts')
  // A level that is none is refused here already, and not when it is the order's turn to be done.
  await createLogger(flags.verbose === true, terminal)
  const resume = resumeCommand(invocation, flags, terminal.env)
  let namespace: string | undefined
  const complete = completeFor({ flags, invocation }, terminal.env, () => namespace)
  function tell(error: unknown, touched: boolean): Failure {
    const failure = completeFailure(failureOf(error, { touched }), complete)
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
  let left: Left
  try {
    const cluster = await openCluster(flags, request.requestTimeoutMs, terminal)
    namespace = cluster.namespace
    try {
      const onOrdered = (): void => void (isOrdered = true)
      const ordered = await order({ cluster, select: request.select, by, flags, context, onOrdered })
      if ('code' in ordered) return ordered.code
      left = ordered
    } finally {
      await cluster.close()
    }
  } catch (error) {
    if (!isOrdered) throw error
    const failure = tell(error, true)
    terminal.err.write(orderStands(resume))
    // What is no bug is a cluster that cannot be watched any more.
    return failure.stack === undefined ? EXIT.deadline : failure.code
  } finally {
    interrupts.dispose()
  }
  // It hears signals from its first moment on.
  return runUpgrade(
    { request, flags, invocation, aborts: true },
    {
      terminal,
      openWorld: (notice) => openWorld(flags, configPath(flags.config, terminal.env), request.requestTimeoutMs, terminal, notice),
      prepareRun: (asked, ports) => prepareAbort({ namespace: asked.namespace, settings: asked.settings, by, ...left }, ports),
    },
  )
}

interface OrderContext {
  cluster: Cluster
  select: RunRequest['select']
  by: string
  flags: AbortFlags
  context: CommandContext
  onOrdered(): void
}

type Left = Extract<OrderedAbort, { kind: 'left' }>

/** An exit code where all is said and done; else what no living process has. */
async function order({
  cluster: { client, namespace },
  select,
  by,
  flags,
  context: { terminal, invocation },
  onOrdered,
}: OrderContext): Promise<{ code: ExitCode } | Left> {
  const { orderAbort } = await import('../../engine/orders/order-abort.ts')
  const { findUnrecorded } = await import('../../engine/unrecorded.ts')
  const { clock } = terminal
  let told = ''
  const ordered = await orderAbort(
    {
      namespace,
      select,
      by,
      wait: flags.wait,
      onOrdered,
      onLook(open, holder) {
        if (told !== holder) terminal.err.write(`${inert(runsOf(open))}: the abort is ordered; waits for ${inert(holder)}\n`)
        told = holder
      },
    },
    { client, clock },
  )
  const { open } = ordered
  const what = runsOf(open)

  function end(
    outcome: OrderReport['outcome'],
    message: string,
    code: ExitCode = EXIT.done,
    commands: string[] = [],
  ): { code: ExitCode } {
    const runs = open.runs.map(({ run }) => run)
    const report: OrderReport = { order: 'abort', namespace, workloads: open.refs.map(displayName), runs, outcome, message }
    if (commands.length > 0) report.templateCommands = commands
    terminal.out.write(orderOutput(report, flags.output))
    return { code }
  }

  if (ordered.kind === 'left') return ordered
  if (ordered.kind === 'ordered') return end('ordered', `${what}: the abort is ordered; sluice status shows what becomes of it`)
  if (ordered.kind === 'none') {
    const unrecorded = await findUnrecorded({ client, clock, namespace, refs: open.refs })
    if (unrecorded.length === 0) return end('none', `no run of ${open.asked} is open: nothing to abort${mayBegin(open)}`)
    const message = `no open run of ${open.asked} is on record, but ${unrecordedWords(unrecorded)}`
    return end('left', message, EXIT.needsOperator)
  }
  const aborted = ordered.records.flatMap((header) => header.aborted ?? [])
  const leftAsIs = aborted.flatMap((one) => one.left)
  if (aborted.length === 0) return end('finished', `${what} had come to its end before the order reached it`)
  if (leftAsIs.length > 0) {
    const concerned = ordered.records.flatMap(({ workloads }) => workloads)
    const commands = templateCommands(concerned, flags, invocation, terminal.env)
    return end('left', `${what} is aborted, but ${leftAsIs.join('; ')}`, EXIT.conflict, commands)
  }
  return end('aborted', `${what} is aborted`)
}

function runsOf({ runs, asked }: OpenRuns): string {
  return `run ${runs.map(({ run }) => run).join(', ')} of ${asked}`
}
