import { RunError } from '../../engine/errors.ts'
import { RENEW_EVERY_MS } from '../../engine/leases/lease.ts'
import type { OpenRuns } from '../../engine/orders/open-runs.ts'
import { displayName } from '../../workloads/resources.ts'
import type { CommandContext } from '../commands/context.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import type { OrderFlags } from '../arguments/flags.ts'
import { askedForHolder, mayBegin } from './asked-for-holder.ts'
import { orderGiver } from './order-giver.ts'
import { orderOutput, type OrderReport } from '../output/order-view.ts'
import { parseRequest } from '../arguments/request.ts'
import { withCluster } from './with-cluster.ts'
import type { Cluster } from '../world.ts'

const NEXT_RENEWAL = `the next renewal of its Lease (${RENEW_EVERY_MS / 1000} s)`

export async function pauseAction(args: readonly string[], flags: OrderFlags, context: CommandContext): Promise<ExitCode> {
  return order('pause', args, flags, context, async (open, { client, namespace }) => {
    const { assertLeased, giveOrder } = await import('../../engine/orders/give-order.ts')
    assertLeased(open)
    const runs = await giveOrder(open, { order: 'pause', by: orderGiver(context.terminal.env) }, { client, namespace })
    const next =
      askedForHolder(open) !== undefined
        ? `it starts no new pod from ${NEXT_RENEWAL} on, those under way come home; sluice resume goes on`
        : 'no process is at work on it; the one that goes on with it stays paused until sluice resume'
    const aborted = open.runs.flatMap(({ run }) => (runs.includes(run) ? [] : [run]))
    return { runs, said: `${next}${asBefore(aborted)}` }
  })
}

export async function resumeAction(args: readonly string[], flags: OrderFlags, context: CommandContext): Promise<ExitCode> {
  let by: string | undefined
  /** In a second pass that of the first is lifted already. */
  const runs = new Set<string>()
  return order('resume', args, flags, context, async (open, { client, namespace }) => {
    const { liftPause } = await import('../../engine/orders/give-order.ts')
    const lifted = await liftPause(open, { client, namespace })
    by ??= lifted?.by
    for (const run of lifted?.runs ?? []) runs.add(run)
    if (by === undefined) throw new RunError('preflight', `no run of ${open.asked} is paused: nothing to resume`)
    const next =
      askedForHolder(open) !== undefined
        ? `it goes on from ${NEXT_RENEWAL} on; where its process is dead, ${sameCommand(open, runs)} goes on`
        : `no process is at work on it: ${sameCommand(open, runs)} goes on`
    return { runs: [...runs], said: `the pause by ${by} is lifted; ${next}${asBefore(lifted?.aborted ?? [])}` }
  })
}

/** Found by a reader: of an undo it was said that the same upgrade command goes on with it. */
function sameCommand({ runs }: OpenRuns, lifted: ReadonlySet<string>): string {
  const verbs = runs.flatMap(({ run, undoes }) => (lifted.has(run) ? [undoes === undefined ? 'upgrade ' : 'undo '] : []))
  return `the same ${new Set(verbs).size === 1 ? verbs[0] : ''}command`
}

function asBefore(aborted: readonly string[]): string {
  return aborted.length === 0 ? '' : `; run ${aborted.join(', ')} is being aborted, as before`
}

interface GivenOrder {
  /** That it means. */
  runs: string[]
  said: string
}

async function order(
  verb: 'pause' | 'resume',
  args: readonly string[],
  flags: OrderFlags,
  { terminal }: CommandContext,
  give: (open: OpenRuns, cluster: Pick<Cluster, 'client' | 'namespace'>) => Promise<GivenOrder>,
): Promise<ExitCode> {
  const { select, requestTimeoutMs } = parseRequest(args, flags, verb)
  const { awaitOpenRuns, forOpenRuns } = await import('../../engine/orders/open-runs.ts')
  return withCluster(flags, requestTimeoutMs, terminal, async ({ client, namespace }) => {
    const found = await awaitOpenRuns(client, { namespace, select }, terminal.clock)
    if (found.runs.length === 0)
      throw new RunError('preflight', `no run of ${found.asked} is open: nothing to ${verb}${mayBegin(found)}`)
    let given: GivenOrder = { runs: [], said: '' }
    const { asked, refs } = await forOpenRuns(client, { namespace, select }, found, async (open) => {
      given = await give(open, { client, namespace })
    })
    const { runs, said } = given
    const message = `run ${runs.join(', ')} of ${asked}: ${said}`
    const workloads = refs.map(displayName)
    const report: OrderReport = { order: verb, namespace, workloads, runs, outcome: 'ordered', message }
    terminal.out.write(orderOutput(report, flags.output))
    return EXIT.done
  })
}
