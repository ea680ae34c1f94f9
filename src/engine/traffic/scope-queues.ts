import type { Adapter } from '../../../adapters/contract.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ScopeQueue } from './scope-queue.ts'
import { createScopeQueue } from './scope-queue.ts'

/** Milliseconds that one call to a load balancer may take before it is cut, and ambiguous. */
export const CALL_LIFE_MS = 10_000

/** The queues of a process: one for each scope of each load balancer, however many runs call it. */
export interface ScopeQueues {
  of(adapter: Adapter, scope: string): ScopeQueue
}

/** Kept for as long as the process has its load balancers: there are few, and a scope is a part of their config. */
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
