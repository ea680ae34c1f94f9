interface KeptPod {
  name: string
  owner: string | undefined
  isGone: boolean
  isDeleting: boolean
  /** True where another pod has taken its place, or none is to. */
  isReplaced: boolean
}

/** The number of pods that each controller keeps, and the missing pods among those that go. */
export interface Replicas {
  /** Sets the number of pods that the controller keeps. */
  scale(owner: string, replicas: number, at: number): void
  /** Returns the time of the last change of that number. */
  scaledAt(owner: string | undefined): number
  /** Reports whether fewer of the present pods count than the controller keeps. */
  hasTooFew(owner: string | undefined, counts: (pod: KeptPod) => boolean): boolean
  /** Reports whether the pod is going and its controller does not need it. */
  isSurplus(pod: KeptPod): boolean
}

export function createReplicas(byUid: ReadonlyMap<string, KeptPod>): Replicas {
  const replicas = new Map<string, number>()
  const scaled = new Map<string, number>()

  const wanted = (owner: string | undefined): number => replicas.get(owner ?? '') ?? Infinity

  function hasTooFew(owner: string | undefined, counts: (pod: KeptPod) => boolean): boolean {
    const there = [...byUid.values()].filter((one) => one.owner === owner && !one.isGone && counts(one))
    return there.length < wanted(owner)
  }

  /**
   * Reports whether a controller misses a pod that goes. It misses only as many pods as there are too few, for a StatefulSet the lowest.
   */
  function isMissed(pod: KeptPod): boolean {
    const ofOwner = [...byUid.values()].filter(({ owner }) => owner === pod.owner)
    const staying = ofOwner.filter(({ isGone, isDeleting }) => !isGone && !isDeleting)
    const lost = ofOwner.filter(({ isGone, isDeleting, isReplaced }) => !isReplaced && (isGone || isDeleting))
    return lost
      .toSorted((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }))
      .slice(0, Math.max(0, wanted(pod.owner) - staying.length))
      .includes(pod)
  }

  return {
    scale(owner, count, at) {
      if (replicas.has(owner) && replicas.get(owner) !== count) scaled.set(owner, at)
      replicas.set(owner, count)
    },
    scaledAt: (owner) => scaled.get(owner ?? '') ?? -Infinity,
    hasTooFew,
    isSurplus: (pod) =>
      pod.isDeleting && (!hasTooFew(pod.owner, (one) => !one.isDeleting) || (!pod.isReplaced && !isMissed(pod))),
  }
}
