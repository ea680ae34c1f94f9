import { pause } from '../kube/pause.ts'
import type { PodView } from '../pods/glossary.ts'
import type { Clock } from '../ports/clock.ts'
import type { Traffic } from './traffic.ts'

/** Until a pod that was not found is looked for again. */
const LOOK_AGAIN_MS = 5_000

export interface NewcomerOptions {
  clock: Clock
  traffic: Pick<Traffic, 'find'>
  /** One was found, or it is time to look again. */
  onLooked(): void
}

/** Pods that have come since the plan was made, and those that it did not find: are they in the load balancers? */
export interface Newcomers {
  /** Not known to be in every load balancer. Asked of ready pods whenever the window decides; the answer comes later. */
  isUnserved(pod: PodView): boolean
  /** These were found, where they are now. */
  know(pods: Iterable<PodView>): void
  stop(): void
}

/**
 * Found by trial: a pod that was made anew in the middle of a run, at an address that no load balancer had, was Ready, and
 * counted as one that serves: the last one that did was drained.
 */
export function createNewcomers({ clock, traffic, onLooked }: NewcomerOptions): Newcomers {
  const served = new Set<string>()
  const lookedFor = new Set<string>()
  const stopping = new AbortController()

  async function look(pod: PodView): Promise<void> {
    const place = placeOf(pod)
    lookedFor.add(place)
    // Where none can be asked, none can be drained either.
    const [found] = await traffic.find([pod]).catch(() => [])
    if (found?.found) served.add(place)
    else if (!(await pause(clock, LOOK_AGAIN_MS, stopping.signal))) return
    lookedFor.delete(place)
    if (!stopping.signal.aborted) onLooked()
  }

  return {
    isUnserved(pod) {
      const place = placeOf(pod)
      if (served.has(place)) return false
      if (!lookedFor.has(place) && !stopping.signal.aborted) void look(pod)
      return true
    },
    know(pods) {
      for (const pod of pods) served.add(placeOf(pod))
    },
    stop: () => stopping.abort(),
  }
}

/** One whose sandbox died is elsewhere, and to be found anew. */
function placeOf({ uid, ip }: PodView): string {
  return `${uid} ${ip}`
}
