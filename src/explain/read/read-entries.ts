import { reasonOf } from '../../engine/errors.ts'
import type { LoadBalancer } from '../../engine/request.ts'
import { findTargets } from '../../engine/traffic/find-targets.ts'
import type { ScopeQueues } from '../../engine/traffic/scope-queues.ts'
import type { PodView } from '../../pods/glossary.ts'
import type { ObservedEntry } from '../observed.ts'
import type { Attempts } from './attempts.ts'

/** Reads the entries of these pods from each load balancer. `attempts` records a load balancer that cannot be read. */
export async function readEntries(
  pods: readonly PodView[],
  { loadBalancers, queues }: { loadBalancers: readonly LoadBalancer[]; queues: ScopeQueues },
  attempts: Attempts,
): Promise<ObservedEntry[]> {
  if (pods.length === 0) return []
  const read = await Promise.all(
    loadBalancers.map(async (loadBalancer) => {
      const part = { what: 'load-balancer', name: loadBalancer.name, decides: true } as const
      return (await attempts.try(part, () => readOne(pods, loadBalancer, queues))) ?? []
    }),
  )
  return read.flat()
}

async function readOne(pods: readonly PodView[], loadBalancer: LoadBalancer, queues: ScopeQueues): Promise<ObservedEntry[]> {
  const found = await findTargets({ loadBalancers: [loadBalancer], allowUnbalanced: false }, pods)
  const entries = await Promise.all(
    found.map(async (one, index): Promise<ObservedEntry[]> => {
      const of = { pod: pods[index]!.uid, loadBalancer: loadBalancer.name }
      if (!one.found) return [{ ...of, found: false, because: one.reason }]
      return Promise.all(one.targets.map(async ({ target }) => ({ ...of, ...(await readTarget(target, loadBalancer, queues)) })))
    }),
  )
  return entries.flat()
}

type Reading = Omit<Extract<ObservedEntry, { found: true }>, 'pod' | 'loadBalancer'>

async function readTarget(
  target: { id: string; scope: string },
  { adapter }: LoadBalancer,
  queues: ScopeQueues,
): Promise<Reading> {
  const unknown = { found: true, target: target.id, admin: 'unknown', routable: false, inFlight: null } as const
  if (adapter.capabilities.inspect === 'none') return { ...unknown, by: { code: 'cannot-read-back' } }
  try {
    const { admin, routable, weight, inFlight, detail } = await queues.of(adapter, target.scope).inspect(target)
    return {
      found: true,
      target: target.id,
      admin,
      routable,
      ...(weight === undefined ? {} : { weight }),
      inFlight,
      ...(detail ? { said: detail } : {}),
    }
  } catch (error) {
    return { ...unknown, by: reasonOf(error) }
  }
}
