import { readyOf } from '../endpoints/readiness.ts'
import { ageOf } from './ages.ts'
import type { Pod } from './objects.ts'
import { isAlive } from './workload-of.ts'

/** Load balancers follow pods after their health checks, and programs that register pods may need a while. */
export const SETTLES_MS = 60_000

/** The pod stays, and its condition Ready is unchanged for long enough that its followers have caught up. */
export function isSettled(pod: Pod, nowAt: number): boolean {
  const since = readyOf(pod)?.lastTransitionTime ?? pod.metadata.creationTimestamp
  return isAlive(pod) && (ageOf(since, nowAt) ?? Infinity) > SETTLES_MS
}
