import type { PodView } from '../../pods/glossary.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Workload } from '../../workloads/workload.ts'

/** The fields of a workload that tell how long a pod must be Ready. */
export type AvailabilityOwner = Pick<Workload, 'owns' | 'minReadyMs' | 'counted'>

/** The Ready pods that have not been Ready for the `minReadySeconds` of their workload. */
export interface Availability {
  /** Takes in the present pods. Returns, by uid, the milliseconds until such a pod counts as available. */
  pendingOf(pods: readonly PodView[]): ReadonlyMap<string, number>
}

/** One time in which a pod was, or was not, Ready. */
interface Stretch {
  /** Undefined while the pod is not Ready. */
  readySince: string | undefined
  seenAt: number
  /** The pod was Ready at its first observation by this process. */
  isOld: boolean
  /** The minimum for which the controller counts the pod as available, in milliseconds. */
  vouchedForMs: number
}

/**
 * Counts availability without wall clocks, although controllers compare `lastTransitionTime` with one. A Ready that this process saw begin
 * counts on the monotonic clock. For an earlier Ready the controller's count decides: of its Ready pods, the latest ones are those that it
 * does not count as available.
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

/**
 * Reports whether the controller counts the pod as available. Only the order of the nodes' times counts here, as it does for the
 * controller.
 */
function isVouched(one: Stretch, ready: readonly Stretch[], counted: ReturnType<Workload['counted']>): boolean {
  if (counted === undefined) return false
  // The controller may not have seen yet that the last pod became Ready.
  const lacking = Math.max(counted.ready, ready.length) - counted.available
  if (lacking <= 0) return true
  return ready.filter(({ readySince }) => readySince! > one.readySince!).length >= lacking
}
