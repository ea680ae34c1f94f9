import { field, stringField } from '../kube/json.ts'
import type { Reflector } from '../kube/reflector.ts'
import { createReflector } from '../kube/reflector.ts'
import { isOlderVersion } from '../kube/resource-version.ts'
import type { PodView } from '../pods/glossary.ts'
import { podView } from '../pods/view.ts'
import type { SharedObservation } from './observation.ts'
import type { PodSourceUser } from './pod-record.ts'

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
  announce(raw: unknown): PodView | undefined
  /** It is selected again: false where more than that is known of it already. */
  giveBack(pod: PodView): boolean
  isCurrent(): boolean
  isBroken(): boolean
  refresh(): Promise<void>
  stop(): Promise<void>
}

export function createUnselectedPods(
  { client, clock, random }: SharedObservation['ports'],
  path: string,
  user: PodSourceUser,
): UnselectedPods {
  /** With those that are gone by now: a late answer of one of them brings it back to nobody. */
  const followers = new Map<string, Reflector<PodView>>()
  let asking = 0

  const get = (uid: string): PodView | undefined => followers.get(uid)?.records().get(uid)
  const alive = (): Reflector<PodView>[] => [...followers].flatMap(([uid, one]) => (one.records().has(uid) ? [one] : []))

  function followerOf(raw: unknown): Reflector<PodView> | undefined {
    const uid = stringField(field(raw, 'metadata'), 'uid')
    return uid === undefined ? undefined : followers.get(uid)
  }

  return {
    follow({ uid, name, ...rest }) {
      const follower = createReflector<PodView>({
        client,
        clock,
        random,
        path,
        fieldSelector: `metadata.name=${name}`,
        known: [{ uid, name, ...rest }],
        decode: podView,
        onEvent({ type, record }) {
          // The name may be another pod's by now.
          if (record.uid !== uid) return
          if (type === 'deleted') {
            void follower.stop()
            user.onGone(uid)
            return
          }
          if (type === 'added') user.onUnselected(record)
          user.onChange(uid)
        },
        onError: user.onError,
        onCurrent: user.onSight,
        isAwaited: user.isAwaited,
      })
      followers.set(uid, follower)
      // Why it ends is told by onError.
      follower.start().catch(() => {})
    },
    all: () => [...followers.keys()].flatMap((uid) => get(uid) ?? []),
    get,
    observe: (raw) => followerOf(raw)?.observe(raw),
    announce: (raw) => followerOf(raw)?.announce(raw),
    giveBack({ uid, resourceVersion }) {
      const known = get(uid)
      if (known && isOlderVersion(resourceVersion, known.resourceVersion)) return false
      void followers.get(uid)?.stop()
      followers.delete(uid)
      return true
    },
    isCurrent: () => asking === 0 && alive().every((one) => one.isCurrent()),
    isBroken: () => alive().some((one) => one.isBroken()),
    async refresh() {
      asking += 1
      await Promise.all(alive().map((one) => one.refresh()))
      asking -= 1
    },
    stop: async () => void (await Promise.all(Array.from(followers.values(), (one) => one.stop()))),
  }
}
