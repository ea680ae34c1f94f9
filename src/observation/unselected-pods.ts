import { field, stringField } from '../kube/json.ts'
import type { Reflector } from '../kube/reflector.ts'
import { createReflector } from '../kube/reflector.ts'
import { isOlderVersion } from '../kube/resource-version.ts'
import type { PodView } from '../pods/glossary.ts'
import { podView } from '../pods/view.ts'
import type { SharedObservation } from './observation.ts'
import type { PodSourceUser } from './pod-record.ts'

/**
 * Pods that a watch by labels has reported as deleted: they are gone, or have lost a label; the watch does not tell which. Each pod is
 * followed by its name until it is gone or selected again, and counts as unchanged until the first answer. Otherwise a drained pod that
 * lost its label would be taken for gone and stay out of rotation.
 */
export interface UnselectedPods {
  follow(pod: PodView): void
  /** The pods that exist, as far as is known. */
  all(): PodView[]
  get(uid: string): PodView | undefined
  /** Applies an answer; undefined if it is about none of these pods. */
  observe(raw: unknown): PodView | undefined
  announce(raw: unknown): PodView | undefined
  /** Hands back a pod that is selected again; false if a newer version of it is known already. */
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
  /** The followers by uid, including those of deleted pods: a late answer about a deleted pod must not bring it back. */
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
          // Another pod may have the name by now.
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
      // `onError` reports why the follower ended.
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
