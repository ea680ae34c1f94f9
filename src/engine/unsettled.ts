import type { LedgerEntry } from '../journal/ledger.ts'
import type { KubeClient } from '../kube/client.ts'
import type { WorkloadRef } from '../plan/plan.ts'
import type { JournalTarget } from '../pods/glossary.ts'
import { listLedgers } from './ledger-store.ts'
import { openEntries } from './open-entries.ts'
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
  const ledgers = (await listLedgers(client, namespace)).flatMap((found) => (found.kind === 'read' ? [found.ledger] : []))
  return ledgers
    .filter(({ header }) => header.finishedAt === undefined && header.workloads.some(isOurs))
    .flatMap((ledger) => openEntries(ledger, ledgers).map((entry) => ({ ...entry, run: ledger.header.run })))
    .filter(({ uid }) => store.get(uid) === undefined)
}

/** What the next run settles, as it was before an earlier run took it out. */
export async function leftOut(client: KubeClient, namespace: string, observed: Observed): Promise<JournalTarget[]> {
  const entries = await unsettled(client, namespace, observed)
  return entries.flatMap(({ targets }) => targets)
}
