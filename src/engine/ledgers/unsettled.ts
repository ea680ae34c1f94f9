import type { LedgerEntry, LedgerHeader } from '../../journal/ledger.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { WorkloadRef } from '../../plan/plan.ts'
import type { JournalTarget } from '../../pods/glossary.ts'
import { findAlive } from './find-alive.ts'
import { listLedgers } from './ledger-store.ts'
import { isOfOthers } from './of-others.ts'
import { openEntries } from './open-entries.ts'
import type { PodStore } from '../pod-store.ts'

interface Observed {
  refs: readonly Pick<WorkloadRef, 'kind' | 'name'>[]
  store: Pick<PodStore, 'get' | 'all'>
}

/** What earlier runs of these workloads, which are not finished, have open; of the newest last. */
export async function openOf(
  client: KubeClient,
  namespace: string,
  refs: Observed['refs'],
): Promise<(LedgerEntry & Pick<LedgerHeader, 'run' | 'workloads'>)[]> {
  const isOurs = ({ kind, name }: { kind: string; name: string }): boolean =>
    refs.some((ref) => ref.kind === kind && ref.name === name)
  const ledgers = (await listLedgers(client, namespace)).flatMap((found) => (found.kind === 'read' ? [found.ledger] : []))
  return ledgers
    .filter(({ header }) => header.finishedAt === undefined && header.workloads.some(isOurs))
    .toSorted((a, b) => (a.header.startedAt < b.header.startedAt ? -1 : 1))
    .flatMap((ledger) => {
      const { run, workloads } = ledger.header
      return openEntries(ledger, ledgers).map((entry) => ({ ...entry, run, workloads }))
    })
}

/** Of pods that are gone: what the next run settles, as it was before an earlier run took it out. */
export async function leftOut(
  client: KubeClient,
  namespace: string,
  { refs, store }: Observed,
): Promise<{ uid: string; target: JournalTarget }[]> {
  // Found by simulation: an operator had it out by the time of a later run, and it counted as in, as an earlier one had found it.
  const newest = new Map((await openOf(client, namespace, refs)).map((entry) => [entry.uid, entry]))
  const unseen = [...newest.values()].filter(
    (entry) => store.get(entry.uid) === undefined && !isOfOthers(entry, entry, refs, store.all),
  )
  // The selector may have lost it while it lives on.
  const alive = await Promise.all(unseen.map((entry) => findAlive(client, namespace, entry)))
  return unseen.flatMap(({ uid, targets }, index) =>
    alive[index] === undefined ? targets.map((target) => ({ uid, target })) : [],
  )
}
