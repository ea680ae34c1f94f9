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
  /** Until it is done, or nobody is left who could. */
  wait: boolean
  /** It is written down: from here on it stands, whatever becomes of this process. */
  onOrdered(open: OpenRuns): void
  /** After each look at a Lease that is held. */
  onLook(open: OpenRuns, holder: string): void
}

/** What came of an order to abort; `open` as it was found before it. */
export type OrderedAbort =
  | { kind: 'none'; open: OpenRuns }
  | { kind: 'ordered'; open: OpenRuns }
  /** By whoever was at work on it: the records of the runs as they are now. */
  | { kind: 'ended'; open: OpenRuns; records: LedgerHeader[] }
  /** What no living process has: as `prepareAbort` takes it. */
  | { kind: 'left'; open: OpenRuns; runs: readonly string[]; seen: ReadonlyMap<string, SeenLease> }

/** Orders it, and waits for who has the run. Throws a RunError, a WorkloadError or a KubeError, and the reason of the signal. */
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

/** The owner may have begun a run since, and have named it in the order. */
function withJoined({ runs }: OpenRuns, { leases }: OpenRuns): string[] {
  const standing = leases.map(({ annotations }) => readOrder(annotations))
  const named = runs.flatMap(({ run }) => {
    const given = orderFor(run, standing)
    return given?.order === 'abort' ? given.runs : []
  })
  return [...new Set([...named, ...runs.map(({ run }) => run)])]
}
