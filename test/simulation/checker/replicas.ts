interface KeptPod {
  name: string
  owner: string | undefined
  isGone: boolean
  isDeleting: boolean
  /** Another has come in its place, or none is to. */
  isReplaced: boolean
}

/** How many pods each controller is to keep, and which of those that go it misses. */
export interface Replicas {
  /** The controller is to keep so many. */
  scale(owner: string, replicas: number, at: number): void
  /** When it was told last to keep another number. */
  scaledAt(owner: string | undefined): number
  /** Of those that are there, and count, there are fewer than it is to keep. */
  hasTooFew(owner: string | undefined, counts: (pod: KeptPod) => boolean): boolean
  /** It goes, and its controller is to keep no more than are there without it. */
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

  /** Of several that go only as many are missed as there are too few (seed 133281451): of a StatefulSet the lowest. */
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
