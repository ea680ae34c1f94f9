import type { Observation } from '../../machines/pod-upgrade/context.ts'
import { journalOf } from '../journal/journal.ts'
import type { KubeClient } from '../kube/client.ts'
import type { Reflector } from '../kube/reflector.ts'
import { createReflector } from '../kube/reflector.ts'
import { isNewerVersion } from '../kube/resource-version.ts'
import type { PodView, ReadJournal } from '../pods/glossary.ts'
import { podView } from '../pods/view.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import { createUnselectedPods } from './unselected-pods.ts'

/**
 * The pods of a run as last observed: from one list and one watch, and from the answers of the run's own writes; once the run has
 * begun, those that lose their labels too.
 */
export interface PodStore {
  all(): Iterable<Observation>
  get(uid: string): Observation | undefined
  /** Takes in an answer of the API server; gives the newest that is known of that pod. */
  observe(raw: unknown): Observation
  /** What is known of them is known of now. */
  isCurrent(): boolean
  /** It is not, since they could not be watched. */
  isBroken(): boolean
  /** Asks for them anew; resolves once the answer is in, or there will be none any more. */
  refresh(): Promise<void>
  stop(): Promise<void>
}

export interface PodStoreOptions {
  client: KubeClient
  clock: Clock
  random: Random
  namespace: string
  selector: { labelSelector?: string; fieldSelector?: string }
  /** One that is no longer selected is kept for as long as it is there; false while it can still be left out. */
  keepsUnselected?(): boolean
  /** Such a one was found to be there. */
  onUnselected?(pod: PodView): void
  /** The journal as it counts, by what else is known. */
  counts?(pod: PodView, stored: ReadJournal): ReadJournal
  onChange(uid: string): void
  onGone(uid: string): void
  /** What `isCurrent` or `isBroken` says has changed. */
  onSight(): void
  /** Somebody waits for one of them to change. */
  isAwaited?: () => boolean
  onError(error: Error, fatal: boolean): void
}

export function podsPath(namespace: string, name?: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods${name === undefined ? '' : `/${encodeURIComponent(name)}`}`
}

export async function openPodStore(options: PodStoreOptions): Promise<PodStore> {
  /** A journal is read once, however many versions of the pod have it. */
  const read = new Map<string, Observation>()
  const { client, clock, random, onChange, onSight, onError, isAwaited } = options
  const path = podsPath(options.namespace)
  const unselected = createUnselectedPods({
    client,
    clock,
    random,
    path,
    onFound(pod) {
      // What told that it had left has this version, and shows it as it was before.
      read.delete(pod.uid)
      options.onUnselected?.(pod)
    },
    onChange,
    onGone: forget,
    onSight,
    onError,
    ...(isAwaited && { isAwaited }),
  })
  const reflector: Reflector<PodView> = createReflector<PodView>({
    client,
    clock,
    random,
    path,
    ...options.selector,
    decode: podView,
    onEvent({ type, record }) {
      if (type === 'deleted') leave(record)
      else if (unselected.giveBack(record)) onChange(record.uid)
    },
    onError,
    onCurrent: () => onSight(),
    ...(isAwaited && { isAwaited }),
  })

  /** Gone, or no longer selected: the same event. One that was going, or at its end, is gone either way. */
  function leave(pod: PodView): void {
    if (unselected.get(pod.uid)) return
    const isByLabel = options.selector.labelSelector !== undefined
    if (!isByLabel || pod.deleting || pod.finished || !options.keepsUnselected?.()) return forget(pod.uid)
    const known = read.get(pod.uid)?.pod
    unselected.follow(known && isNewerVersion(known.resourceVersion, pod.resourceVersion) ? known : pod)
  }

  function forget(uid: string): void {
    read.delete(uid)
    options.onGone(uid)
  }

  function observation(pod: PodView): Observation {
    const found = asRead(pod)
    const stored = options.counts?.(pod, found.stored) ?? found.stored
    return stored === found.stored ? found : { pod, stored }
  }

  function asRead(pod: PodView): Observation {
    const known = read.get(pod.uid)
    if (known?.pod.resourceVersion === pod.resourceVersion) return known
    const stored = known && isSameJournal(known.pod, pod) ? known.stored : journalOf(pod)
    const fresh = { pod, stored }
    read.set(pod.uid, fresh)
    return fresh
  }

  await reflector.start()
  return {
    all() {
      const others = unselected.all()
      const records = reflector.records()
      const pods = others.length === 0 ? records : new Map([...records, ...others.map((pod) => [pod.uid, pod] as const)])
      return Array.from(pods.values(), observation)
    },
    get(uid) {
      const pod = unselected.get(uid) ?? reflector.records().get(uid)
      return pod && observation(pod)
    },
    observe: (raw) => observation(unselected.observe(raw) ?? reflector.observe(raw)),
    isCurrent: () => reflector.isCurrent() && unselected.isCurrent(),
    isBroken: () => reflector.isBroken() || unselected.isBroken(),
    async refresh() {
      await reflector.refresh()
      // In its list one may be missed that was there.
      await unselected.refresh()
    },
    async stop() {
      await Promise.all([reflector.stop(), unselected.stop()])
    },
  }
}

function isSameJournal({ journal: before }: PodView, { journal: now }: PodView): boolean {
  if (before.annotation !== now.annotation || before.condition?.message !== now.condition?.message) return false
  // A condition without a message says something else than none.
  return (before.condition === undefined) === (now.condition === undefined)
}
