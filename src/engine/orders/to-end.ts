import type { LedgerHeader } from '../../journal/ledger.ts'
import type { KubeClient } from '../../kube/client.ts'
import { isSameWorkload, type WorkloadId } from '../../pods/workload-id.ts'
import type { Kinds } from '../../workloads/kinds/kinds.ts'
import { areGone } from '../ledgers/cleanup.ts'
import { isNamedBy } from '../ledgers/is-named-by.ts'
import { listLedgers } from '../ledgers/list-ledgers.ts'
import type { OpenRuns } from './open-runs.ts'
import { assertOrdered } from './order.ts'

interface ToEndOptions {
  /** Those that the order means. */
  runs: readonly string[]
  client: KubeClient
  kinds: Kinds
  namespace: string
}

/**
 * The workloads that are to be had to end the ordered runs, of all of them together. Without those that nobody has asked for and
 * that a run which is not ordered has begun with since: what was left of them is that one's. And without those that are gone, where
 * something of the run is there. Throws a RunError where one that was asked for is another's.
 *
 * Found by reading: of the newest run alone, and another one of a workload that was asked for too was left open, with its pod out;
 * and an abort of a run of several could never be carried out once one of these was deleted.
 */
export async function workloadsToEnd({ refs: asked, runs: open }: OpenRuns, options: ToEndOptions): Promise<WorkloadId[]> {
  const { runs, client, kinds, namespace } = options
  const ordered = open.filter(({ run }) => runs.includes(run))
  const newestFirst = await openHeaders(client, namespace)
  const mine: WorkloadId[] = []
  for (const one of unique(ordered.flatMap(({ workloads }) => workloads))) {
    const newest = newestFirst.find((header) => isNamedBy(header, one))?.run
    const isAnothers = newest !== undefined && !runs.includes(newest)
    if (isAnothers && asked.some((ref) => isSameWorkload(ref, one))) assertOrdered(newest, runs)
    if (!isAnothers) mine.push(one)
  }
  const there: WorkloadId[] = []
  for (const one of mine) if (!(await areGone({ workloads: [one] }, { client, kinds, namespace }))) there.push(one)
  // Of these nothing is there: who asks hears of it, and of what is left of them.
  const lost = ordered.filter((header) => !there.some((one) => isNamedBy(header, one)))
  return mine.filter((one) => there.some((ref) => isSameWorkload(ref, one)) || lost.some((header) => isNamedBy(header, one)))
}

async function openHeaders(client: KubeClient, namespace: string): Promise<LedgerHeader[]> {
  const found = await listLedgers(client, namespace)
  const headers = found.flatMap((one) => (one.kind === 'read' ? [one.ledger.header] : []))
  return headers.filter(({ finishedAt }) => finishedAt === undefined).toSorted((a, b) => (a.startedAt < b.startedAt ? 1 : -1))
}

function unique(refs: readonly WorkloadId[]): WorkloadId[] {
  return refs.filter((ref, index) => refs.findIndex((other) => isSameWorkload(ref, other)) === index)
}
