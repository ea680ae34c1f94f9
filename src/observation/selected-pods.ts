import { isNewerVersion } from '../kube/resource-version.ts'
import type { PodView } from '../pods/glossary.ts'
import type { SharedObservation } from './observation.ts'
import { podRecord, podsPath, type PodSelection, type PodSource, type PodSourceUser } from './pod-record.ts'
import { createUnselectedPods } from './unselected-pods.ts'

/** The pods that the API server selects; once a run has begun, those that lose their labels too, each followed by its name. */
export async function openSelectedPods(
  observation: SharedObservation,
  namespace: string,
  { labelSelector, fieldSelector }: PodSelection,
  user: PodSourceUser,
): Promise<PodSource> {
  const path = podsPath(namespace)
  const unselected = createUnselectedPods(observation.ports, path, user)

  /** Gone, or no longer selected: the same event. A pod that was going, or at its end, is gone either way. */
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
      // In its list a pod may be missed that was there.
      await unselected.refresh()
    },
    stop: async () => void (await Promise.all([feed.stop(), unselected.stop()])),
  }
}
