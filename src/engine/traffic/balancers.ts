import type { Adapter, Capabilities } from '../../../adapters/contract.ts'
import { AdapterError } from '../../../adapters/contract.ts'
import type { JournalTarget } from '../../pods/glossary.ts'
import type { LoadBalancer } from '../request.ts'
import type { ScopeQueue } from './scope-queue.ts'
import type { ScopeQueues } from './scope-queues.ts'

/** The load balancers of a run by name, with the queues of their scopes. Other runs of the process may share the queues. */
export interface Balancers {
  has(name: string): boolean
  /** Throws for a load balancer that the config does not have any more. */
  adapterOf(name: string): Adapter
  /** The capabilities of the load balancers of these targets, without untouched targets. */
  capabilitiesOf(targets: readonly JournalTarget[]): Capabilities[]
  /** The turn of the load balancer in a drain. See `drain.order` of the config. */
  turnOf(name: string): number
  queueOf(target: Pick<JournalTarget, 'loadBalancer' | 'scope'>): ScopeQueue
  /** Reports whether the effect on the target can be read back. */
  isReadable(target: JournalTarget): boolean
}

export function createBalancers(queues: ScopeQueues, loadBalancers: readonly LoadBalancer[]): Balancers {
  const byName = new Map(loadBalancers.map((loadBalancer) => [loadBalancer.name, loadBalancer]))

  function adapterOf(name: string): Adapter {
    const loadBalancer = byName.get(name)
    if (!loadBalancer)
      throw new AdapterError('engine', 'fatal', `the config has no load balancer "${name}", which this pod's record names`)
    return loadBalancer.adapter
  }

  return {
    has: (name) => byName.has(name),
    adapterOf,
    // A load balancer that the config does not have any more is left out. A call to it shows the error.
    capabilitiesOf: (targets) =>
      targets.flatMap(({ loadBalancer, untouched }) => {
        const known = untouched ? undefined : byName.get(loadBalancer)
        return known ? [known.adapter.capabilities] : []
      }),
    // A load balancer that the config does not have any more has no turn. A call to it shows the error.
    turnOf: (name) => byName.get(name)?.drainTurn ?? 0,
    queueOf: ({ loadBalancer, scope }) => queues.of(adapterOf(loadBalancer), scope),
    isReadable: ({ loadBalancer }) => adapterOf(loadBalancer).capabilities.inspect !== 'none',
  }
}
