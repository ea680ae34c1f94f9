import type { OpenRuns } from '../engine/open-runs.ts'
import type { RunRequest } from '../engine/run.ts'
import type { SeenLease } from '../engine/ownership.ts'
import type { LedgerHeader } from '../journal/ledger.ts'
import { abortInterrupted, orderStands } from './abort-interrupted.ts'
import type { CommandContext } from './commands/context.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { failureOf } from './failures.ts'
import type { AbortFlags } from './flags.ts'
import { watchInterrupts } from './interrupts.ts'
import { createLogger } from './log.ts'
import { orderGiver } from './order-giver.ts'
import { inert } from './output/inert.ts'
import { orderOutput, type OrderReport } from './output/order-view.ts'
import { reportFailure } from './report-failure.ts'
import { parseRequest } from './request.ts'
import { resumeCommand } from './resume-command.ts'
import type { Cluster } from './world.ts'

/** Orders it, and waits for who has the run; does it itself where nobody has. */
export async function abortAction(args: readonly string[], flags: AbortFlags, context: CommandContext): Promise<ExitCode> {
  const { terminal, invocation } = context
  const request = parseRequest(args, flags, 'abort')
  const by = orderGiver(terminal.env)
  const { configPath, openCluster, openWorld } = await import('./world.ts')
  // Before there is an order: no signal may fall between one who hears it and the next while these are loaded.
  const { prepareAbort } = await import('../engine/abort.ts')
  const { runUpgrade } = await import('./run-upgrade.ts')
  // A level that is none is refused here already, and not when it is the order's turn to be done.
  await createLogger(flags.verbose === true, terminal)
  // It may wait for hours, and as the first process of a container it would not even hear a signal.
  const interrupts = watchInterrupts({
    events: terminal.events,
    now: () => terminal.clock.now(),
    exit: (code, cause) => {
      if ('bug' in cause) reportFailure(failureOf(cause.bug, { touched: false }), flags, terminal)
      else terminal.err.write(abortInterrupted(cause, resumeCommand(invocation, terminal.env)))
      terminal.exit(code)
    },
  })
  let isOrdered = false
  let left: Left
  try {
    const cluster = await openCluster(flags, request.requestTimeoutMs, terminal)
    try {
      const onOrdered = (): void => void (isOrdered = true)
      const ordered = await orderAbort({ cluster, select: request.select, by, flags, context, onOrdered })
      if ('code' in ordered) return ordered.code
      left = ordered
    } finally {
      await cluster.close()
    }
  } catch (error) {
    if (!isOrdered) throw error
    const failure = failureOf(error, { touched: true })
    reportFailure(failure, flags, terminal)
    terminal.err.write(orderStands(resumeCommand(invocation, terminal.env)))
    // What is no bug is a cluster that cannot be watched any more.
    return failure.stack === undefined ? EXIT.deadline : failure.code
  } finally {
    interrupts.dispose()
  }
  return runUpgrade(
    { request, flags, invocation, aborts: true },
    {
      terminal,
      openWorld: () => openWorld(flags, configPath(flags.config, terminal.env), request.requestTimeoutMs, terminal),
      prepareRun: ({ namespace, settings }, ports) => prepareAbort({ namespace, settings, by, ...left }, ports),
    },
  )
}

interface AbortOrder {
  cluster: Cluster
  select: RunRequest['select']
  by: string
  flags: AbortFlags
  context: CommandContext
  onOrdered(): void
}

/** What no living process has; `runs` were ordered to end. */
interface Left {
  open: OpenRuns
  runs: readonly string[]
  seen: ReadonlyMap<string, SeenLease>
}

/** An exit code where all is said and done; else what no living process has. */
async function orderAbort({
  cluster: { client, namespace },
  select,
  by,
  flags,
  context: { terminal },
  onOrdered,
}: AbortOrder): Promise<{ code: ExitCode } | Left> {
  const { awaitOpenRuns, readOpenRuns } = await import('../engine/open-runs.ts')
  const { assertLeased, giveOrder } = await import('../engine/give-order.ts')
  const { watchOwner } = await import('../engine/watch-owner.ts')
  const { listLedgers } = await import('../engine/ledger-store.ts')
  const { findUnrecorded } = await import('../engine/unrecorded.ts')
  const { clock } = terminal
  const open = await awaitOpenRuns(client, { namespace, select }, clock)
  const runs = open.runs.map(({ run }) => run)
  const what = `run ${runs.join(', ')} of ${open.asked}`

  function end(outcome: OrderReport['outcome'], message: string, code: ExitCode = EXIT.done): { code: ExitCode } {
    const report: OrderReport = { order: 'abort', namespace, workloads: open.asked, runs, outcome, message }
    terminal.out.write(orderOutput(report, flags.output))
    return { code }
  }

  if (runs.length === 0) {
    const unrecorded = await findUnrecorded({ client, clock, namespace, refs: open.refs })
    if (unrecorded.length === 0) return end('none', `no run of ${open.asked} is open: nothing to abort`)
    const message = `no open run of ${open.asked} is on record, but ${unrecorded.join('; ')}: sluice upgrade brings such pods to their end`
    return end('left', message, EXIT.needsOperator)
  }
  if (!flags.wait) assertLeased(open)
  await giveOrder(open, { order: 'abort', by }, { client, namespace })
  onOrdered()
  if (!flags.wait) return end('ordered', `${what}: the abort is ordered; sluice status shows what becomes of it`)
  let told = ''
  const seen = await watchOwner({
    client,
    clock,
    namespace,
    leases: open.leases,
    onLook(holder) {
      if (told !== holder) terminal.err.write(`${inert(what)}: the abort is ordered; waits for ${inert(holder)}\n`)
      told = holder
    },
  })
  const now = await readOpenRuns(client, { namespace, select })
  if (now.runs.some(({ run }) => runs.includes(run))) return { open: now, runs, seen }
  const ledgers = await listLedgers(client, namespace)
  const ended = ledgers.flatMap((found): LedgerHeader[] =>
    found.kind === 'read' && runs.includes(found.ledger.header.run) ? [found.ledger.header] : [],
  )
  const aborted = ended.flatMap((header) => header.aborted ?? [])
  const leftAsIs = aborted.flatMap((one) => one.left)
  if (aborted.length === 0) return end('finished', `${what} had come to its end before the order reached it`)
  if (leftAsIs.length > 0) return end('left', `${what} is aborted, but ${leftAsIs.join('; ')}`, EXIT.conflict)
  return end('aborted', `${what} is aborted`)
}
