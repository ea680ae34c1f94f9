import { journalOf } from '../journal/journal.ts'
import type { PodView, ReadJournal } from '../pods/glossary.ts'
import { openNamespacePods } from './namespace-pods.ts'
import type { SharedObservation } from './observation.ts'
import type { PodSelection, PodSourceUser } from './pod-record.ts'
import { openSelectedPods } from './selected-pods.ts'

export { podsPath, type PodSelection } from './pod-record.ts'

/** A pod, and what its journal says, as it counts. */
export interface ObservedPod {
  pod: PodView
  stored: ReadJournal
}

/**
 * The pods of a run as last observed: from a feed that other runs may share, and from the answers of the run's own writes; once the
 * run has begun, those that lose their labels too.
 */
export interface PodStore {
  all(): Iterable<ObservedPod>
  get(uid: string): ObservedPod | undefined
  /** Takes in an answer of the API server; gives the newest that is known of that pod. */
  observe(raw: unknown): ObservedPod
  /** The same for a look that was meant to tell what the watch has not: `onChange` is called where it is news. */
  announce(raw: unknown): ObservedPod
  /** A watch has brought a line just now: what it has not told yet it will tell soon. */
  isHeard(): boolean
  /** What is known of them is known of now. */
  isCurrent(): boolean
  /** It is not, since they could not be watched. */
  isBroken(): boolean
  /** Asks for them anew; resolves once the answer is in, or cannot be had. */
  refresh(): Promise<void>
  stop(): Promise<void>
}

export interface PodStoreOptions extends Pick<PodSourceUser, 'onChange' | 'onGone' | 'onSight' | 'onError'> {
  observation: SharedObservation
  namespace: string
  selector: PodSelection
  /** A pod that is no longer selected is kept for as long as it is there; false while it can still be left out. */
  keepsUnselected?(): boolean
  /** Such a pod was found to be there. */
  onUnselected?(pod: PodView): void
  /** The journal as it counts, by what else is known. */
  counts?(pod: PodView, stored: ReadJournal): ReadJournal
  /** Somebody waits for one of them to change. */
  isAwaited?: () => boolean
}

export async function openPodStore(options: PodStoreOptions): Promise<PodStore> {
  /** A journal is read once, however many versions of the pod have it. */
  const read = new Map<string, ObservedPod>()
  const { observation, namespace, selector, onChange, onSight, onError } = options
  const user: PodSourceUser = {
    onChange,
    onGone(uid) {
      read.delete(uid)
      options.onGone(uid)
    },
    onUnselected(pod) {
      // What told that it had left may have this version, and show it as it was before.
      read.delete(pod.uid)
      options.onUnselected?.(pod)
    },
    keepsUnselected: () => options.keepsUnselected?.() === true,
    newest: (uid) => read.get(uid)?.pod,
    onSight,
    isAwaited: () => options.isAwaited?.() === true,
    onError,
  }
  const { labelSelector, fieldSelector, selects } = selector
  const isOfNamespace = observation.scope === 'namespace' || (labelSelector === undefined && fieldSelector === undefined)
  const source =
    selects !== undefined && isOfNamespace
      ? await openNamespacePods(observation, namespace, selects, user)
      : await openSelectedPods(observation, namespace, selector, user)

  function observed(pod: PodView): ObservedPod {
    const found = asRead(pod)
    const stored = options.counts?.(pod, found.stored) ?? found.stored
    return stored === found.stored ? found : { pod, stored }
  }

  function asRead(pod: PodView): ObservedPod {
    const known = read.get(pod.uid)
    if (known?.pod.resourceVersion === pod.resourceVersion) return known
    const stored = known && isSameJournal(known.pod, pod) ? known.stored : journalOf(pod)
    const fresh = { pod, stored }
    read.set(pod.uid, fresh)
    return fresh
  }

  return {
    all: () => Array.from(source.all(), observed),
    get(uid) {
      const pod = source.get(uid)
      return pod && observed(pod)
    },
    observe: (raw) => observed(source.observe(raw)),
    announce: (raw) => observed(source.announce(raw)),
    isHeard: source.isHeard,
    isCurrent: source.isCurrent,
    isBroken: source.isBroken,
    refresh: source.refresh,
    stop: source.stop,
  }
}

function isSameJournal({ journal: before }: PodView, { journal: now }: PodView): boolean {
  if (before.annotation !== now.annotation || before.condition?.message !== now.condition?.message) return false
  // A condition without a message says something else than none.
  return (before.condition === undefined) === (now.condition === undefined)
}
