import type { Clock } from '../../src/ports/clock.ts'
import { type Pod, condition } from '../kubelet/pod.ts'
import type { WorkloadObject } from './workload.ts'

/** Counts the pods that have been Ready for `minReadySeconds`. Calls `lookAgain` once the next pod has been. */
export function countAvailable(
  { spec }: WorkloadObject,
  ready: readonly Pod[],
  clock: Pick<Clock, 'wallNow' | 'setTimeout'>,
  lookAgain: () => void,
): number {
  const leastMs = (spec.minReadySeconds ?? 0) * 1000
  if (leastMs === 0) return ready.length
  const rests = ready.map((pod) => leastMs - (clock.wallNow() - Date.parse(condition(pod.status, 'Ready')!.lastTransitionTime!)))
  const pending = rests.filter((restMs) => restMs > 0)
  if (pending.length > 0) clock.setTimeout(lookAgain, Math.min(...pending) + 1)
  return ready.length - pending.length
}
