import type { LedgerEntry } from '../journal/ledger.ts'
import type { KubeClient } from '../kube/client.ts'
import type { WorkloadRef } from '../plan/plan.ts'
import type { JournalTarget } from '../pods/glossary.ts'
import { listLedgers } from './ledger-store.ts'
import type { PodStore } from './pod-store.ts'

interface Observed {
  refs: readonly Pick<WorkloadRef, 'kind' | 'name'>[]
  store: Pick<PodStore, 'get'>
}

/** Entries of earlier runs of these workloads whose pods are gone, and whose targets are not settled. */
export async function unsettled(
  client: KubeClient,
  namespace: string,
  { refs, store }: Observed,
): Promise<(LedgerEntry & { run: string })[]> {
  const isOurs = ({ kind, name }: { kind: string; name: string }): boolean =>
    refs.some((ref) => ref.kind === kind && ref.name === name)
  return (await listLedgers(client, namespace)).flatMap((found) => {
    if (found.kind !== 'read') return []
    const { header, entries } = found.ledger
    if (header.finishedAt !== undefined || !header.workloads.some(isOurs)) return []
    const left = [...entries.values()].filter(({ state, uid }) => state !== 'closed' && store.get(uid) === undefined)
    return left.map((entry) => ({ ...entry, run: header.run }))
  })
}

/** What the next run settles, as it was before an earlier run took it out. */
export async function leftOut(client: KubeClient, namespace: string, observed: Observed): Promise<JournalTarget[]> {
  const entries = await unsettled(client, namespace, observed)
  return entries.flatMap(({ targets }) => targets)
}
