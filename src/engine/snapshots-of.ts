import type { TargetSnapshot } from '../../adapters/contract.ts'
import { reasonOf, RunError } from './errors.ts'
import type { LoadBalancer } from './request.ts'
import type { Place } from './traffic/find-targets.ts'
import { keyOf } from './traffic/target-key.ts'

/**
 * Reads the present state of the targets, by `keyOf`. No run has begun, so no queue is used.
 * @throws RunError of kind `preflight` where a load balancer cannot be asked
 */
export async function snapshotsOf(
  places: readonly Place[],
  loadBalancers: readonly LoadBalancer[],
): Promise<Map<string, TargetSnapshot>> {
  const standing = new Map<string, TargetSnapshot>()
  for (const { name, adapter } of loadBalancers) {
    const targets = places.flatMap(({ loadBalancer, target }) => (loadBalancer === name ? [target] : []))
    if (targets.length === 0) continue
    try {
      const taken = await adapter.snapshot(targets, { deadlineMs: 10_000, assertLive: () => {} })
      for (const [target, snapshot] of taken) standing.set(keyOf({ loadBalancer: name, target }), snapshot)
    } catch (error) {
      throw new RunError(
        'preflight',
        { code: 'load-balancer-not-asked', loadBalancer: name, because: reasonOf(error) },
        { cause: error },
      )
    }
  }
  return standing
}
