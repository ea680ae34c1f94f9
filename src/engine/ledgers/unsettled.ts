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

/** The entries of earlier unfinished runs. Those of the newest run come last. */
export interface Unsettled {
  /** The entries that the next run settles. */
  open: RunEntry[]
  /** The entries of gone pods without an expected replacement, which no run restores. */
  forGood: RunEntry[]
}

/** Reads the unsettled entries of these workloads, or of all workloads without `refs`. */
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

/** Reports whether an unfinished run of the workloads exists, also one that has begun with no pod. */
export async function isAnyUnfinished(client: KubeClient, namespace: string, refs: Observed['refs']): Promise<boolean> {
  return unfinishedAmong(await listLedgers(client, namespace), refs).unfinished.length > 0
}

/** All readable ledgers, and the ledgers of unfinished runs of these workloads, the newest last. */
function unfinishedAmong(found: readonly ReadLedger[], refs?: Observed['refs']): { ledgers: Ledger[]; unfinished: Ledger[] } {
  const isOurs = (one: WorkloadId): boolean => refs === undefined || refs.some((ref) => isSameWorkload(ref, one))
  const ledgers = found.flatMap((one) => (one.kind === 'read' ? [one.ledger] : []))
  const unfinished = ledgers
    .filter(({ header }) => header.finishedAt === undefined && header.workloads.some(isOurs))
    .toSorted((a, b) => (a.header.startedAt < b.header.startedAt ? -1 : 1))
  return { ledgers, unfinished }
}

/**
 * The entries of gone pods that the next run settles, as they were before an earlier run took them out. `isAbandoned`: a person must point
 * the entry elsewhere, or remove it, before a run can settle it.
 */
export async function leftOut(
  client: KubeClient,
  namespace: string,
  { kinds, refs, store }: Observed,
  found: readonly ReadLedger[],
): Promise<{ uid: string; pod: string; target: JournalTarget; isAbandoned: boolean }[]> {
  // The newest run counts: an operator may have taken the entry out before it.
  const newest = new Map(unsettledAmong(found, refs).open.map((entry) => [entry.uid, entry]))
  const unseen = [...newest.values()].filter(
    (entry) => store.get(entry.uid) === undefined && !isOfOthers(entry, entry, { kinds, refs, pods: store.all }),
  )
  // The pod may exist although the selector does not match it.
  const alive = await Promise.all(unseen.map((entry) => findAlive(client, namespace, entry)))
  return unseen.flatMap(({ uid, pod, targets, state }, index) =>
    alive[index] === undefined ? targets.map((target) => ({ uid, pod, target, isAbandoned: state === 'abandoned' })) : [],
  )
}
