import { isNewerVersion } from '../kube/resource-version.ts'
import type { PodView } from '../pods/glossary.ts'
import type { SharedObservation } from './observation.ts'
import { podRecord, podsPath, type PodSelection, type PodSource, type PodSourceUser } from './pod-record.ts'
import { createUnselectedPods } from './unselected-pods.ts'

/**
 * The pods that the API server selects. After the start of a run, pods that lose their labels stay in the selection; each of them is
 * followed by its name.
 */
export async function openSelectedPods(
  observation: SharedObservation,
  namespace: string,
  { labelSelector, fieldSelector }: PodSelection,
  user: PodSourceUser,
): Promise<PodSource> {
  const path = podsPath(namespace)
  const unselected = createUnselectedPods(observation.ports, path, user)

  /**
   * A watch by labels reports deleted pods and pods that are no longer selected by one kind of event. A terminating or finished pod counts
   * as gone in both cases.
   */
  function leave(pod: PodView): void {
    if (unselected.get(pod.uid)) return
    if (labelSelector === undefined || pod.deleting || pod.finished || !user.keepsUnselected()) return user.onGone(pod.uid)
    const known = user.newest(pod.uid)
    unselected.follow(known && isNewerVersion(known.resourceVersion, pod.resourceVersion) ? known : pod)
  }

  const feed = await observation.open(
    {
      path,
      decode: podRecord,
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
    },
    {
      onEvent({ type, record }) {
        if (type === 'deleted') leave(record)
        else if (unselected.giveBack(record)) user.onChange(record.uid)
      },
      onError: user.onError,
      onSight: user.onSight,
      isAwaited: user.isAwaited,
    },
  )

  return {
    all() {
      const others = unselected.all()
      const records = feed.records()
      return others.length === 0
        ? records.values()
        : new Map<string, PodView>([...records, ...others.map((pod) => [pod.uid, pod] as const)]).values()
    },
    get: (uid) => unselected.get(uid) ?? feed.records().get(uid),
    observe: (raw) => unselected.observe(raw) ?? feed.observe(raw),
    announce: (raw) => unselected.announce(raw) ?? feed.announce(raw),
    isHeard: feed.isHeard,
    isCurrent: () => feed.isCurrent() && unselected.isCurrent(),
    isBroken: () => feed.isBroken() || unselected.isBroken(),
    async refresh() {
      await feed.refresh()
      // The list may lack a pod that exists but is no longer selected; its follower reads it anew.
      await unselected.refresh()
    },
    stop: async () => void (await Promise.all([feed.stop(), unselected.stop()])),
  }
}
