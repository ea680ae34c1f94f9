import { pause } from '../kube/pause.ts'
import type { PodView } from '../pods/glossary.ts'
import type { OperatorOut } from '../plan/window.ts'
import type { Clock } from '../ports/clock.ts'
import type { Place } from './traffic/find-targets.ts'
import { unrecorded } from './traffic/find-targets.ts'
import type { Traffic } from './traffic/traffic.ts'

/** The time until a pod that was not found, or is out, is looked for again. */
const LOOK_AGAIN_MS = 5_000

export interface NewcomerOptions {
  clock: Clock
  traffic: Pick<Traffic, 'find' | 'inspect'>
  /** Called when a pod was found, or when it is time to look again. */
  onLooked(): void
}

/** Looks in the load balancers for pods that came after the plan, or that the plan did not find. */
export interface Newcomers {
  /** Reports whether the pod is not known to be in every load balancer. The window asks this of ready pods, and the answer comes later. */
  isUnserved(pod: PodView): boolean
  /** The share of the pod's entries that is out at its present address. It counts as an operator's. */
  operatorOut(pod: PodView): OperatorOut
  /** Notes pods that were found at their present address. */
  know(pods: Iterable<PodView>): void
  stop(): void
}

/**
 * A pod that is made anew can have an address that no load balancer has, or that an operator has out. Such a pod does not serve, although
 * it is Ready, so the last serving pod must not be drained for it.
 */
export function createNewcomers({ clock, traffic, onLooked }: NewcomerOptions): Newcomers {
  const served = new Set<string>()
  const out = new Map<string, OperatorOut>()
  const lookedFor = new Set<string>()
  const stopping = new AbortController()

  async function look(pod: PodView): Promise<void> {
    const place = placeOf(pod)
    lookedFor.add(place)
    // Without an answer the pod counts as not found. Nothing can be drained then either.
    const [found] = await traffic.find([pod]).catch(() => [])
    const isOut = found?.found ? await outOf(pod, found.targets) : undefined
    if (isOut === undefined || isOut === 'none') out.delete(place)
    else out.set(place, isOut)
    if (isOut === 'none') served.add(place)
    else {
      // The pod may have its own turn. It fills the window meanwhile.
      if (isOut && !stopping.signal.aborted) onLooked()
      if (!(await pause(clock, LOOK_AGAIN_MS, stopping.signal))) return
    }
    lookedFor.delete(place)
    if (!stopping.signal.aborted) onLooked()
  }

  /** The share that is out. Undefined where a reading failed. Entries that can never be read count as in. */
  async function outOf({ uid }: PodView, targets: readonly Place[]): Promise<OperatorOut | undefined> {
    if (targets.length === 0) return 'none'
    const { state, hidden } = await traffic.inspect(uid, targets.map(unrecorded))
    // A failed reading must not count the pod as serving.
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
    // The window asks this of every pod.
    operatorOut: (pod) => (out.size > 0 && out.get(placeOf(pod))) || 'none',
    know(pods) {
      for (const pod of pods) served.add(placeOf(pod))
    },
    stop: () => stopping.abort(),
  }
}

/** A pod at another address, for example after its sandbox died, is looked for anew. */
function placeOf({ uid, ip }: PodView): string {
  return `${uid} ${ip}`
}
