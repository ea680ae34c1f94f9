import type { Adapter, Capabilities } from '../../../adapters/contract.ts'
import { AdapterError } from '../../../adapters/contract.ts'
import type { JournalTarget } from '../../pods/glossary.ts'
import type { LoadBalancer } from '../request.ts'
import type { ScopeQueue } from './scope-queue.ts'
import type { ScopeQueues } from './scope-queues.ts'

/** The load balancers of a run by name, and the queue of each of their scopes, which other runs of the process may share. */
export interface Balancers {
  has(name: string): boolean
  /** Throws where it is in the config no more. */
  adapterOf(name: string): Adapter
  /** Of those that sluice may touch these targets in. */
  capabilitiesOf(targets: readonly JournalTarget[]): Capabilities[]
  /** In which turn it is drained: see `drain.order` of the config. */
  turnOf(name: string): number
  queueOf(target: Pick<JournalTarget, 'loadBalancer' | 'scope'>): ScopeQueue
  /** What is done to it can be read back. */
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
    // A record may name a load balancer that is in the config no more: that shows where it is called.
    capabilitiesOf: (targets) =>
      targets.flatMap(({ loadBalancer, untouched }) => {
        const known = untouched ? undefined : byName.get(loadBalancer)
        return known ? [known.adapter.capabilities] : []
      }),
    // One that is in the config no more has no turn, and shows where it is called.
    turnOf: (name) => byName.get(name)?.drainTurn ?? 0,
    queueOf: ({ loadBalancer, scope }) => queues.of(adapterOf(loadBalancer), scope),
    isReadable: ({ loadBalancer }) => adapterOf(loadBalancer).capabilities.inspect !== 'none',
  }
}
