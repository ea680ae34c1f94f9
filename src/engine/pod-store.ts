import type { Observation } from '../../machines/pod-upgrade/context.ts'
import { journalOf } from '../journal/journal.ts'
import type { KubeClient } from '../kube/client.ts'
import type { Reflector } from '../kube/reflector.ts'
import { createReflector } from '../kube/reflector.ts'
import type { PodView } from '../pods/glossary.ts'
import { podView } from '../pods/view.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'

/** The pods of a run as last observed: from one list and one watch, and from the answers of the run's own writes. */
export interface PodStore {
  all(): Iterable<Observation>
  get(uid: string): Observation | undefined
  /** Takes in an answer of the API server; gives the newest that is known of that pod. */
  observe(raw: unknown): Observation
  /** What is known of them is known of now. */
  isCurrent(): boolean
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
  onChange(uid: string): void
  onGone(uid: string): void
  /** What `isCurrent` says has changed. */
  onSight(): void
  onError(error: Error, fatal: boolean): void
}

export function podsPath(namespace: string, name?: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods${name === undefined ? '' : `/${encodeURIComponent(name)}`}`
}

export async function openPodStore(options: PodStoreOptions): Promise<PodStore> {
  /** A journal is read once, however many versions of the pod have it. */
  const read = new Map<string, Observation>()
  const reflector: Reflector<PodView> = createReflector<PodView>({
    client: options.client,
    clock: options.clock,
    random: options.random,
    path: podsPath(options.namespace),
    ...options.selector,
    decode: podView,
    onEvent({ type, record }) {
      if (type === 'deleted') {
        read.delete(record.uid)
        options.onGone(record.uid)
        return
      }
      options.onChange(record.uid)
    },
    onError: options.onError,
    onCurrent: () => options.onSight(),
  })

  function observation(pod: PodView): Observation {
    const known = read.get(pod.uid)
    if (known?.pod.resourceVersion === pod.resourceVersion) return known
    const stored = known && isSameJournal(known.pod, pod) ? known.stored : journalOf(pod)
    const fresh = { pod, stored }
    read.set(pod.uid, fresh)
    return fresh
  }

  await reflector.start()
  return {
    all: () => Array.from(reflector.records().values(), observation),
    get(uid) {
      const pod = reflector.records().get(uid)
      return pod && observation(pod)
    },
    observe: (raw) => observation(reflector.observe(raw)),
    isCurrent: () => reflector.isCurrent(),
    refresh: () => reflector.refresh(),
    stop: () => reflector.stop(),
  }
}

function isSameJournal({ journal: before }: PodView, { journal: now }: PodView): boolean {
  if (before.annotation !== now.annotation || before.condition?.message !== now.condition?.message) return false
  // A condition without a message says something else than none.
  return (before.condition === undefined) === (now.condition === undefined)
}
