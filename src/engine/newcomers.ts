import { pause } from '../kube/pause.ts'
import type { PodView } from '../pods/glossary.ts'
import type { OperatorOut } from '../plan/window.ts'
import type { Clock } from '../ports/clock.ts'
import type { Place } from './traffic/find-targets.ts'
import { unrecorded } from './traffic/find-targets.ts'
import type { Traffic } from './traffic/traffic.ts'

/** Until a pod that was not found, or is out, is looked for again. */
const LOOK_AGAIN_MS = 5_000

export interface NewcomerOptions {
  clock: Clock
  traffic: Pick<Traffic, 'find' | 'inspect'>
  /** One was found, or it is time to look again. */
  onLooked(): void
}

/** Pods that have come since the plan was made, and those that it did not find: are they in the load balancers? */
export interface Newcomers {
  /** Not known to be in every load balancer. Asked of ready pods whenever the window decides; the answer comes later. */
  isUnserved(pod: PodView): boolean
  /** What of its entries is out where it has come to, which is an operator's doing by then. */
  operatorOut(pod: PodView): OperatorOut
  /** These were found, where they are now. */
  know(pods: Iterable<PodView>): void
  stop(): void
}

/**
 * Found by trial: a pod that was made anew in the middle of a run, at an address that no load balancer had, was Ready, and
 * counted as one that serves: the last one that did was drained. And by reading: so did one at an address that an operator had out.
 */
export function createNewcomers({ clock, traffic, onLooked }: NewcomerOptions): Newcomers {
  const served = new Set<string>()
  const out = new Map<string, OperatorOut>()
  const lookedFor = new Set<string>()
  const stopping = new AbortController()

  async function look(pod: PodView): Promise<void> {
    const place = placeOf(pod)
    lookedFor.add(place)
    // Where none can be asked, none can be drained either.
    const [found] = await traffic.find([pod]).catch(() => [])
    const isOut = found?.found ? await outOf(pod, found.targets) : undefined
    if (isOut === undefined || isOut === 'none') out.delete(place)
    else out.set(place, isOut)
    if (isOut === 'none') served.add(place)
    else {
      // It may have its turn itself, and fills the window meanwhile.
      if (isOut && !stopping.signal.aborted) onLooked()
      if (!(await pause(clock, LOOK_AGAIN_MS, stopping.signal))) return
    }
    lookedFor.delete(place)
    if (!stopping.signal.aborted) onLooked()
  }

  /** Undefined where that could not be read now, which says nothing; where it never can be, it is taken to be in. */
  async function outOf({ uid }: PodView, targets: readonly Place[]): Promise<OperatorOut | undefined> {
    if (targets.length === 0) return 'none'
    const { state, hidden } = await traffic.inspect(uid, targets.map(unrecorded))
    // Found by reading: the load balancer failed at that moment, and who was out there served for the rest of the run.
    if (state === 'unknown' && !hidden) return undefined
    return state === 'out' ? 'all' : state === 'mixed' ? 'some' : 'none'
  }

  return {
    isUnserved(pod) {
      const place = placeOf(pod)
      if (served.has(place)) return false
      if (!lookedFor.has(place) && !stopping.signal.aborted) void look(pod)
      return !out.has(place)
    },
    // Asked of every pod whenever the window decides.
    operatorOut: (pod) => (out.size > 0 && out.get(placeOf(pod))) || 'none',
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
