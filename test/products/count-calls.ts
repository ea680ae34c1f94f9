/** The cost of draining many targets of one load balancer at once, and of restoring them. */
import type { Bed } from '../../adapters/conformance/bed.ts'
import type { Adapter, Target } from '../../adapters/contract.ts'
import { createScopeQueue } from '../../src/engine/traffic/scope-queue.ts'
import { CALL_LIFE_MS } from '../../src/engine/traffic/scope-queues.ts'
import { systemClock } from '../../src/ports/system.ts'

export interface Calls {
  /** The numbers of calls, as counted on the wire. For nginx these are reloads. */
  drains: number
  restores: number
  /** The time from the first request to the last result. */
  ms: number
}

/** Asks the queue of the scope for the first `count` targets of the bed in one turn, as a window of that size does. */
export async function countCalls(bed: Bed, adapter: Adapter, count: number): Promise<Calls> {
  const endpoints = bed.endpoints.slice(0, count)
  const call = { deadlineMs: CALL_LIFE_MS, assertLive() {} }
  const found = await adapter.resolve(endpoints, call)
  const targets = found.map((one, index): Target => {
    if (!one.found || one.targets.length !== 1) throw new Error(`${endpoints[index]!.pod} has not one entry`)
    return one.targets[0]!
  })
  const before = await adapter.snapshot(targets, call)
  const queue = createScopeQueue({ clock: systemClock, adapter, callLifeMs: CALL_LIFE_MS })

  async function all(kind: 'drain' | 'restore', becomes: 'draining' | 'in'): Promise<number> {
    const sentBefore = bed.wire.effectCalls()
    const done = await Promise.all(
      targets.map((target) => {
        const operation = `${kind} ${target.id}`
        return queue.effect({ kind, target, prior: before.get(target.id)!.prior, operation, fence: 1, assertLive() {} })
      }),
    )
    const failed = done.find(({ result }) => result.outcome !== 'applied')
    if (failed) throw new Error(`a ${kind} is ${JSON.stringify(failed.result)}`)
    for (const endpoint of [endpoints[0]!, endpoints.at(-1)!]) {
      const admin = await bed.oracle.admin(endpoint)
      if (admin !== becomes) throw new Error(`${endpoint.pod} is ${admin} after a ${kind}`)
    }
    return bed.wire.effectCalls() - sentBefore
  }

  const startedAt = performance.now()
  const drains = await all('drain', 'draining')
  const restores = await all('restore', 'in')
  return { drains, restores, ms: performance.now() - startedAt }
}

/** Returns the adapter with calls for one target each. */
export function oneByOne(adapter: Adapter): Adapter {
  return { ...adapter, capabilities: { ...adapter.capabilities, maxBatch: 1 } }
}
