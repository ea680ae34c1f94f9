import type { Ledger, LedgerEntry, LedgerHeader, ReadLedger } from '../../journal/ledger.ts'
import type { KubeClient } from '../../kube/client.ts'
import { isSameWorkload, type WorkloadId } from '../../pods/workload-id.ts'
import type { Kinds } from '../../workloads/kinds/kinds.ts'
import type { JournalTarget } from '../../pods/glossary.ts'
import { findAlive } from './find-alive.ts'
import { listLedgers } from './list-ledgers.ts'
import { isOfOthers } from './of-others.ts'
import { openEntries } from './open-entries.ts'
import type { PodStore } from '../../observation/pod-store.ts'

interface Observed {
  kinds: Kinds
  refs: readonly WorkloadId[]
  store: Pick<PodStore, 'get' | 'all'>
}

type RunEntry = LedgerEntry & Pick<LedgerHeader, 'run' | 'workloads'>

/** Of earlier runs that are not finished; of the newest last. */
export interface Unsettled {
  /** For the next run to settle. */
  open: RunEntry[]
  /** Of pods that are gone, and in whose place nothing was to come: nobody puts them back. */
  forGood: RunEntry[]
}

/** Of these workloads; of all, where none are told. */
export async function unsettledOf(client: KubeClient, namespace: string, refs?: Observed['refs']): Promise<Unsettled> {
  return unsettledAmong(await listLedgers(client, namespace), refs)
}

function unsettledAmong(found: readonly ReadLedger[], refs?: Observed['refs']): Unsettled {
  const { ledgers, unfinished } = unfinishedAmong(found, refs)
  const ofRun = (ledger: Ledger, entries: Iterable<LedgerEntry>): RunEntry[] => {
    const { run, workloads } = ledger.header
    return Array.from(entries, (entry) => ({ ...entry, run, workloads }))
  }
  return {
    open: unfinished.flatMap((ledger) => ofRun(ledger, openEntries(ledger, ledgers))),
    forGood: unfinished.flatMap((ledger) => ofRun(ledger, ledger.entries.values()).filter(({ leftOut: isLeft }) => isLeft)),
  }
}

/** Found by reading: all that the run had was not begun yet, and its owner counted as none. */
export async function isAnyUnfinished(client: KubeClient, namespace: string, refs: Observed['refs']): Promise<boolean> {
  return unfinishedAmong(await listLedgers(client, namespace), refs).unfinished.length > 0
}

/** All records that can be read, and those of runs of these workloads that are not finished; the newest last. */
function unfinishedAmong(found: readonly ReadLedger[], refs?: Observed['refs']): { ledgers: Ledger[]; unfinished: Ledger[] } {
  const isOurs = (one: WorkloadId): boolean => refs === undefined || refs.some((ref) => isSameWorkload(ref, one))
  const ledgers = found.flatMap((one) => (one.kind === 'read' ? [one.ledger] : []))
  const unfinished = ledgers
    .filter(({ header }) => header.finishedAt === undefined && header.workloads.some(isOurs))
    .toSorted((a, b) => (a.header.startedAt < b.header.startedAt ? -1 : 1))
  return { ledgers, unfinished }
}

/**
 * Of pods that are gone: what the next run settles, as it was before an earlier run took it out. `isAbandoned`: not before a person has
 * pointed the entry elsewhere, or removed it.
 */
export async function leftOut(
  client: KubeClient,
  namespace: string,
  { kinds, refs, store }: Observed,
  found: readonly ReadLedger[],
): Promise<{ uid: string; pod: string; target: JournalTarget; isAbandoned: boolean }[]> {
  // Found by simulation: an operator had it out by the time of a later run, and it counted as in, as an earlier one had found it.
  const newest = new Map(unsettledAmong(found, refs).open.map((entry) => [entry.uid, entry]))
  const unseen = [...newest.values()].filter(
    (entry) => store.get(entry.uid) === undefined && !isOfOthers(entry, entry, { kinds, refs, pods: store.all }),
  )
  // The selector may have lost it while it lives on.
  const alive = await Promise.all(unseen.map((entry) => findAlive(client, namespace, entry)))
  return unseen.flatMap(({ uid, pod, targets, state }, index) =>
    alive[index] === undefined ? targets.map((target) => ({ uid, pod, target, isAbandoned: state === 'abandoned' })) : [],
  )
}
