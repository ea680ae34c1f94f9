import type { PodView } from '../../pods/glossary.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Workload } from '../../workloads/workload.ts'

/** A workload, as far as it says for how long a pod has to be Ready. */
export type AvailabilityOwner = Pick<Workload, 'owns' | 'minReadyMs' | 'counted'>

/** Which Ready pods have not been Ready for `minReadySeconds` of their workload yet. */
export interface Availability {
  /** Takes in how all the pods stand now. Gives, by uid, the milliseconds after which such a pod counts as available. */
  pendingOf(pods: readonly PodView[]): ReadonlyMap<string, number>
}

/** One stretch of a pod's Ready. */
interface Stretch {
  /** Undefined while the pod is not Ready. */
  readySince: string | undefined
  seenAt: number
  /** The pod was Ready already when this process saw it first. */
  isOld: boolean
  /** Its controller has counted it as available, for so long a minimum. */
  vouchedForMs: number
}

/**
 * Controllers compare `lastTransitionTime` with a wall clock, by which sluice decides nothing. A Ready that this process has seen
 * come is counted on the monotonic clock from then on. A Ready that was there before is available where the controller's own count
 * says so: of the pods that it counts as Ready, those that became so last are the ones that it does not count as available yet.
 */
export function createAvailability(clock: Pick<Clock, 'now'>, workloads: () => readonly AvailabilityOwner[]): Availability {
  const stretches = new Map<string, Stretch>()

  function stretchOf({ uid, ready, readySince = '' }: PodView): Stretch {
    const known = stretches.get(uid)
    const since = ready ? readySince : undefined
    if (known && known.readySince === since) return known
    const stretch = { readySince: since, seenAt: clock.now(), isOld: known === undefined, vouchedForMs: 0 }
    stretches.set(uid, stretch)
    return stretch
  }

  return {
    pendingOf(pods) {
      const seen = pods.map((pod) => ({ pod, stretch: stretchOf(pod) }))
      const pending = new Map<string, number>()
      for (const workload of workloads()) {
        const leastMs = workload.minReadyMs()
        if (leastMs <= 0) continue
        const ready = seen.filter(({ pod }) => pod.ready && workload.owns(pod))
        for (const { pod, stretch } of ready) {
          const restMs = leastMs - (clock.now() - stretch.seenAt)
          if (restMs <= 0) continue
          if (stretch.isOld && stretch.vouchedForMs < leastMs) {
            const others = ready.map((one) => one.stretch)
            if (isVouched(stretch, others, workload.counted())) stretch.vouchedForMs = leastMs
          }
          if (stretch.vouchedForMs < leastMs) pending.set(pod.uid, Math.ceil(restMs))
        }
      }
      return pending
    },
  }
}

/** The nodes' clocks alone are compared here, as the controller compares them: the order is all that counts. */
function isVouched(one: Stretch, ready: readonly Stretch[], counted: ReturnType<Workload['counted']>): boolean {
  if (counted === undefined) return false
  // The controller may not have seen yet that the last of them became Ready.
  const lacking = Math.max(counted.ready, ready.length) - counted.available
  if (lacking <= 0) return true
  return ready.filter(({ readySince }) => readySince! > one.readySince!).length >= lacking
}
