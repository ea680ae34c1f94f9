import type { LedgerHeader } from '../../journal/ledger.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Kinds } from '../../workloads/kinds/kinds.ts'
import type { Clock } from '../../ports/clock.ts'
import { assertLeased, giveOrder } from './give-order.ts'
import { listLedgers } from '../ledgers/list-ledgers.ts'
import type { OpenRuns } from './open-runs.ts'
import { awaitOpenRuns, forOpenRuns, readOpenRuns } from './open-runs.ts'
import { orderFor, readOrder } from './order.ts'
import type { SeenLease } from '../leases/ownership.ts'
import type { RunRequest } from '../request.ts'
import { watchOwner } from '../leases/watch-owner.ts'

export interface AbortOrder extends Pick<RunRequest, 'namespace' | 'select'> {
  by: string
  /** Wait until the abort is done, or no living process can do it. */
  wait: boolean
  /** Called once the order is written. From then on the order stands, even if this process ends. */
  onOrdered(open: OpenRuns): void
  /** Called after each look at a held Lease. */
  onLook(open: OpenRuns, holder: string): void
}

/** The result of an order to abort. `open` has the runs as they were before. */
export type OrderedAbort =
  | { kind: 'none'; open: OpenRuns }
  | { kind: 'ordered'; open: OpenRuns }
  /** The owner of the runs has ended them. `records` has the present headers. */
  | { kind: 'ended'; open: OpenRuns; records: LedgerHeader[] }
  /** The runs that no living process has, as the input of `prepareAbort`. */
  | { kind: 'left'; open: OpenRuns; runs: readonly string[]; seen: ReadonlyMap<string, SeenLease> }

/** Orders the abort, and waits for the owner of the run. Throws a RunError, a WorkloadError or a KubeError, or the reason of the signal. */
export async function orderAbort(
  { namespace, select, by, wait, onOrdered, onLook }: AbortOrder,
  { client, clock, signal, kinds }: { client: KubeClient; clock: Clock; signal?: AbortSignal; kinds?: Kinds },
): Promise<OrderedAbort> {
  const asked = { namespace, select, ...(kinds && { kinds }) }
  const found = await awaitOpenRuns(client, asked, clock, signal)
  if (found.runs.length === 0) return { kind: 'none', open: found }
  if (!wait) assertLeased(found)
  const open = await forOpenRuns(client, asked, found, async (all) => {
    await giveOrder(all, { order: 'abort', by }, { client, namespace })
    onOrdered(all)
  })
  if (!wait) return { kind: 'ordered', open }
  const seen = await watchOwner({
    client,
    clock,
    namespace,
    leases: open.leases,
    signal,
    onLook: (holder) => onLook(open, holder),
  })
  const now = await readOpenRuns(client, asked)
  const runs = withJoined(open, now)
  if (now.runs.some(({ run }) => runs.includes(run))) return { kind: 'left', open: now, runs, seen }
  const headers = (await listLedgers(client, namespace)).flatMap((one) => (one.kind === 'read' ? [one.ledger.header] : []))
  return { kind: 'ended', open, records: headers.filter(({ run }) => runs.includes(run)) }
}

/** The runs of the order. The owner may have begun a run since, and named it in the order. */
function withJoined({ runs }: OpenRuns, { leases }: OpenRuns): string[] {
  const standing = leases.map(({ annotations }) => readOrder(annotations))
  const named = runs.flatMap(({ run }) => {
    const given = orderFor(run, standing)
    return given?.order === 'abort' ? given.runs : []
  })
  return [...new Set([...named, ...runs.map(({ run }) => run)])]
}
