import type { KubeClient } from '../kube/client.ts'
import { field, stringField } from '../kube/json.ts'
import type { Reflector } from '../kube/reflector.ts'
import { createReflector } from '../kube/reflector.ts'
import { isOlderVersion } from '../kube/resource-version.ts'
import type { PodView } from '../pods/glossary.ts'
import { podView } from '../pods/view.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'

/**
 * Pods that a watch by labels has told as deleted: gone, or no longer selected, which it says in the same words. Each is asked for by
 * its name, and followed so until it is gone, or selected again; until there is an answer it is as it was. Found by reading: a pod
 * that lost its label while it was restarting was taken for gone, and stayed in rotation once a load balancer had forgotten its drain.
 */
export interface UnselectedPods {
  follow(pod: PodView): void
  /** Those that are there, as far as that is known. */
  all(): PodView[]
  get(uid: string): PodView | undefined
  /** Takes in an answer; undefined where it is of none of them. */
  observe(raw: unknown): PodView | undefined
  /** It is selected again: false where more than that is known of it already. */
  giveBack(pod: PodView): boolean
  isCurrent(): boolean
  isBroken(): boolean
  refresh(): Promise<void>
  stop(): Promise<void>
}

export interface UnselectedPodsOptions {
  client: KubeClient
  clock: Clock
  random: Random
  /** Of the collection. */
  path: string
  /** It is there all the same. */
  onFound(pod: PodView): void
  onChange(uid: string): void
  onGone(uid: string): void
  onSight(): void
  isAwaited?: () => boolean
  onError(error: Error, fatal: boolean): void
}

export function createUnselectedPods(options: UnselectedPodsOptions): UnselectedPods {
  /** With those that are gone by now: a late answer of one of them brings it back to nobody. */
  const followers = new Map<string, Reflector<PodView>>()

  const get = (uid: string): PodView | undefined => followers.get(uid)?.records().get(uid)
  const alive = (): Reflector<PodView>[] => [...followers].flatMap(([uid, one]) => (one.records().has(uid) ? [one] : []))

  return {
    follow({ uid, name, ...rest }) {
      const follower = createReflector<PodView>({
        client: options.client,
        clock: options.clock,
        random: options.random,
        path: options.path,
        fieldSelector: `metadata.name=${name}`,
        known: [{ uid, name, ...rest }],
        decode: podView,
        onEvent({ type, record }) {
          // The name may be another pod's by now.
          if (record.uid !== uid) return
          if (type === 'deleted') {
            void follower.stop()
            options.onGone(uid)
            return
          }
          if (type === 'added') options.onFound(record)
          options.onChange(uid)
        },
        onError: options.onError,
        onCurrent: () => options.onSight(),
        ...(options.isAwaited && { isAwaited: options.isAwaited }),
      })
      followers.set(uid, follower)
      // Why it ends is told by onError.
      follower.start().catch(() => {})
    },
    all: () => [...followers.keys()].flatMap((uid) => get(uid) ?? []),
    get,
    observe(raw) {
      const uid = stringField(field(raw, 'metadata'), 'uid')
      return uid === undefined ? undefined : followers.get(uid)?.observe(raw)
    },
    giveBack({ uid, resourceVersion }) {
      const known = get(uid)
      if (known && isOlderVersion(resourceVersion, known.resourceVersion)) return false
      void followers.get(uid)?.stop()
      followers.delete(uid)
      return true
    },
    isCurrent: () => alive().every((one) => one.isCurrent()),
    isBroken: () => alive().some((one) => one.isBroken()),
    refresh: async () => void (await Promise.all(alive().map((one) => one.refresh()))),
    stop: async () => void (await Promise.all(Array.from(followers.values(), (one) => one.stop()))),
  }
}
