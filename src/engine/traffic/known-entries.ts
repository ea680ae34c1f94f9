import type { Found, Listener } from './find-targets.ts'

/** The number of entries of each pod at its address, by load balancer and scope. A list with fewer entries may be short. */
export interface KnownEntries {
  /** Notes the entries. The largest number counts, since any list may be short. */
  note(pod: Listener, found: Found): void
  /** Reports whether the list has fewer entries than known. Only the number counts, since an entry may have another name by now. */
  isShort(pod: Listener, found: Found): boolean
  /** Takes the list as right: the missing entries were removed. */
  believe(pod: Listener, found: Found): void
}

export function createKnownEntries(): KnownEntries {
  const known = new Map<string, Map<string, number>>()

  return {
    note(pod, found) {
      const before = known.get(placeOf(pod)) ?? new Map<string, number>()
      for (const [place, count] of countsOf(found)) before.set(place, Math.max(count, before.get(place) ?? 0))
      known.set(placeOf(pod), before)
    },
    isShort(pod, found) {
      const counts = countsOf(found)
      return [...(known.get(placeOf(pod)) ?? [])].some(([place, count]) => count > (counts.get(place) ?? 0))
    },
    believe: (pod, found) => void known.set(placeOf(pod), countsOf(found)),
  }
}

function countsOf(found: Found): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { loadBalancer, target } of found.found ? found.targets : []) {
    const place = JSON.stringify([loadBalancer, target.scope])
    counts.set(place, 1 + (counts.get(place) ?? 0))
  }
  return counts
}

/** A pod at another address has other entries. */
function placeOf({ uid, ip }: Listener): string {
  return `${uid} ${ip}`
}
