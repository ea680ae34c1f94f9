import type { Adapter } from '../../../adapters/contract.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ScopeQueue } from './scope-queue.ts'
import { createScopeQueue } from './scope-queue.ts'

/** The life of one call to a load balancer, in milliseconds. After it the call is cut, and its result is ambiguous. */
export const CALL_LIFE_MS = 10_000

/** The queues of a process: one for each scope of each load balancer, shared by all runs. */
export interface ScopeQueues {
  of(adapter: Adapter, scope: string): ScopeQueue
}

/** Creates the queues. They live as long as the process has its load balancers, since scopes are few and come from the config. */
export function createScopeQueues(clock: Clock): ScopeQueues {
  const queues = new Map<Adapter, Map<string, ScopeQueue>>()
  return {
    of(adapter, scope) {
      const ofAdapter = queues.get(adapter) ?? new Map<string, ScopeQueue>()
      queues.set(adapter, ofAdapter)
      const queue = ofAdapter.get(scope) ?? createScopeQueue({ clock, adapter, callLifeMs: CALL_LIFE_MS })
      ofAdapter.set(scope, queue)
      return queue
    },
  }
}
