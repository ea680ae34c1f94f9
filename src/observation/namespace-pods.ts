import type { SharedObservation } from './observation.ts'
import { type PodRecord, podRecord, podsPath, type PodSource, type PodSourceUser } from './pod-record.ts'

/**
 * A selection of the pods of a namespace; the runs of a process share the feed. After the start of a run, pods that lose their labels stay
 * in the selection.
 */
export async function openNamespacePods(
  observation: SharedObservation,
  namespace: string,
  selects: (pod: PodRecord) => boolean,
  user: PodSourceUser,
): Promise<PodSource> {
  /** The pods of this selection by uid, and whether the labels still select them. The records belong to the feed. */
  const own = new Map<string, boolean>()

  function leave(uid: string): void {
    if (own.delete(uid)) user.onGone(uid)
  }

  function take(pod: PodRecord): void {
    const { uid } = pod
    const wasSelected = own.get(uid)
    const isSelected = selects(pod)
    if (!isSelected && wasSelected === undefined) return
    if (!isSelected && wasSelected) {
      if (pod.deleting || pod.finished || !user.keepsUnselected()) return leave(uid)
      user.onUnselected(pod)
    }
    own.set(uid, isSelected)
    user.onChange(uid)
  }

  const feed = await observation.open(
    { path: podsPath(namespace), decode: podRecord },
    {
      onEvent({ type, record }) {
        if (type === 'deleted') leave(record.uid)
        else take(record)
      },
      concerns: (metadata) => selects({ name: '', labels: {}, ...(metadata as object) } as PodRecord),
      onError: user.onError,
      onSight: user.onSight,
      isAwaited: user.isAwaited,
    },
  )

  return {
    *all() {
      const records = feed.records()
      for (const uid of own.keys()) {
        const pod = records.get(uid)
        if (pod) yield pod
      }
    },
    get: (uid) => (own.has(uid) ? feed.records().get(uid) : undefined),
    observe(raw) {
      const pod = feed.observe(raw)
      // The event of this pod follows later, because the feed holds the pod already.
      if (!own.has(pod.uid) && feed.records().has(pod.uid) && selects(pod)) own.set(pod.uid, true)
      return pod
    },
    announce: feed.announce,
    isHeard: feed.isHeard,
    isCurrent: feed.isCurrent,
    isBroken: feed.isBroken,
    refresh: feed.refresh,
    stop: feed.stop,
  }
}
