import { journalOf } from '../journal/journal.ts'
import type { PodView, ReadJournal } from '../pods/glossary.ts'
import { openNamespacePods } from './namespace-pods.ts'
import type { SharedObservation } from './observation.ts'
import type { PodSelection, PodSourceUser } from './pod-record.ts'
import { openSelectedPods } from './selected-pods.ts'

export { podsPath, type PodSelection } from './pod-record.ts'

/** A pod with its journal. The journal takes into account everything else that is known. */
export interface ObservedPod {
  pod: PodView
  stored: ReadJournal
}

/**
 * The pods of a run as last observed: from a feed that other runs may share, and from the answers to the run's own writes. After the start
 * of the run, pods that lose their labels stay in the store.
 */
export interface PodStore {
  all(): Iterable<ObservedPod>
  get(uid: string): ObservedPod | undefined
  /** Applies an answer of the API server; returns the newest known version of that pod. */
  observe(raw: unknown): ObservedPod
  /** Applies an answer as `observe` does, and calls `onChange` if the version is new. For reads that check on a silent watch. */
  announce(raw: unknown): ObservedPod
  /** True if a watch has just delivered a line, and so is expected to deliver later changes soon. */
  isHeard(): boolean
  /** True if the pods are current, apart from the lag of a watch. */
  isCurrent(): boolean
  /** True if the pods are not current because watching them failed. */
  isBroken(): boolean
  /** Lists the pods anew; resolves after the list, or when it failed. */
  refresh(): Promise<void>
  stop(): Promise<void>
}

export interface PodStoreOptions extends Pick<PodSourceUser, 'onChange' | 'onGone' | 'onSight' | 'onError'> {
  observation: SharedObservation
  namespace: string
  selector: PodSelection
  /** True if a pod that is no longer selected is kept while it exists; false while the run can still leave it out. */
  keepsUnselected?(): boolean
  /** Called for a pod that is no longer selected and was found to exist. */
  onUnselected?(pod: PodView): void
  /** The journal of the pod, corrected by everything else that is known. */
  counts?(pod: PodView, stored: ReadJournal): ReadJournal
  /** True while a caller waits for a change of the pods. */
  isAwaited?: () => boolean
}

export async function openPodStore(options: PodStoreOptions): Promise<PodStore> {
  /** The parsed journals by the uid of the pod. A journal is parsed once, in however many versions of the pod it appears. */
  const read = new Map<string, ObservedPod>()
  const { observation, namespace, selector, onChange, onSight, onError } = options
  const user: PodSourceUser = {
    onChange,
    onGone(uid) {
      read.delete(uid)
      options.onGone(uid)
    },
    onUnselected(pod) {
      // The deletion event may have this resource version, with the content from before the change; so the pod is parsed anew.
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
  // A condition without a message differs from a missing condition.
  return (before.condition === undefined) === (now.condition === undefined)
}
