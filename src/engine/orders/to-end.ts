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
  /** The runs that the order means. */
  runs: readonly string[]
  client: KubeClient
  kinds: Kinds
  namespace: string
}

/**
 * The workloads whose Leases are needed to end the ordered runs together. A workload that a later run has begun with is left out: that run
 * has its remains. A deleted workload is left out where another workload of the same run exists. Throws a RunError where a requested
 * workload belongs to a later run.
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
  // The runs of which no workload exists. The caller reports them, and the pods that they left.
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
