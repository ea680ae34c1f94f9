import type { TargetSnapshot } from '../../adapters/contract.ts'
import { reasonOf, RunError } from './errors.ts'
import type { LoadBalancer } from './request.ts'
import type { Place } from './traffic/find-targets.ts'
import { keyOf } from './traffic/target-key.ts'

/**
 * Checks whether the drain and the restore of the targets can be made. A restore that fails would otherwise be found with the pod out of
 * rotation.
 * @throws RunError of kind `preflight` where an effect cannot be made, or a load balancer cannot be asked
 */
export async function rehearseEffects(
  places: readonly Place[],
  standing: ReadonlyMap<string, TargetSnapshot>,
  loadBalancers: readonly LoadBalancer[],
): Promise<void> {
  for (const { name, adapter } of loadBalancers) {
    const wanted = places.flatMap(({ loadBalancer, target }) => {
      const snapshot = loadBalancer === name ? standing.get(keyOf({ loadBalancer, target: target.id })) : undefined
      // An entry that an operator has out gets no effect.
      return snapshot?.inRotation ? [{ target, prior: snapshot.prior }] : []
    })
    if (wanted.length === 0 || adapter.rehearse === undefined) continue
    let wrong: Awaited<ReturnType<typeof adapter.rehearse>>
    try {
      wrong = await adapter.rehearse(wanted, { deadlineMs: 10_000, assertLive: () => {} })
    } catch (error) {
      throw new RunError(
        'preflight',
        { code: 'load-balancer-not-asked', loadBalancer: name, because: reasonOf(error) },
        { cause: error },
      )
    }
    const [first] = wrong
    if (first === undefined) continue
    const [target, error] = first
    const reason = {
      code: 'effects-cannot-be-made',
      loadBalancer: name,
      target,
      others: wrong.size - 1,
      because: reasonOf(error),
    } as const
    throw new RunError('preflight', reason, { cause: error })
  }
}
