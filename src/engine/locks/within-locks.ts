import type { Adapter, EffectCall, EffectResult } from '../../../adapters/contract.ts'
import { AdapterError } from '../../../adapters/contract.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LoadBalancer } from '../request.ts'
import { CALL_LIFE_MS } from '../traffic/scope-queues.ts'
import { createDocumentTurns, type DocumentTurns } from './take-document.ts'

type Results = Map<string, EffectResult>

/**
 * The same load balancers. Where one of them has a lock, each call that changes it is made by the one process that holds the Lease of its
 * document. The time that a call has begins once the Lease is held.
 */
export function withinLocks(
  loadBalancers: readonly LoadBalancer[],
  { clock, identity }: { clock: Clock; identity: string },
): LoadBalancer[] {
  const locked = new Map<KubeClient, Map<string, InTurn>>()
  return loadBalancers.map((loadBalancer) => {
    const { lock, adapter } = loadBalancer
    if (lock === undefined) return loadBalancer
    const ofCluster = locked.get(lock.client) ?? new Map<string, InTurn>()
    locked.set(lock.client, ofCluster)
    const key = JSON.stringify([lock.namespace, lock.document])
    const inTurn = ofCluster.get(key) ?? createInTurn(createDocumentTurns(lock, clock, identity))
    ofCluster.set(key, inTurn)
    return { ...loadBalancer, adapter: withinLock(adapter, inTurn) }
  })
}

interface InTurn {
  effect(call: EffectCall, send: (call: EffectCall) => Promise<Results>): Promise<Results>
  /** Resolves once nothing is under way, and no Lease is held that can be given back. */
  quiet(): Promise<void>
}

/** One call of this process at a time, in the order in which they come. */
function createInTurn(turns: DocumentTurns): InTurn {
  let last: Promise<void> = Promise.resolve()

  /** Answers by `answer`. Resolves once the Lease is given back, or left to run out. */
  async function sendAfter(
    before: Promise<void>,
    call: EffectCall,
    send: (call: EffectCall) => Promise<Results>,
    answer: PromiseWithResolvers<Results>,
  ): Promise<void> {
    await before
    try {
      const held = await turns.take(CALL_LIFE_MS)
      let isSent = false
      const assertLive = (): void => {
        call.assertLive()
        held.assertFresh()
        isSent = true
      }
      const sent = send({ ...call, assertLive })
      answer.resolve(sent)
      const isOver = await sent.then((results) => [...results.values()].every(isSettled), isDefinite)
      if (isOver || !isSent) await held.giveBack()
      else held.leave()
    } catch (error) {
      answer.reject(error)
    }
  }

  return {
    effect(call, send) {
      const answer = Promise.withResolvers<Results>()
      last = sendAfter(last, call, send, answer)
      return answer.promise
    },
    quiet: () => last,
  }
}

function isSettled(result: EffectResult): boolean {
  if (result.outcome === 'failed') return isDefinite(result.error)
  return result.outcome === 'applied'
}

/** Nothing of the call can arrive any more. */
function isDefinite(error: unknown): boolean {
  return error instanceof AdapterError && error.kind !== 'ambiguous'
}

function withinLock(adapter: Adapter, inTurn: InTurn): Adapter {
  const { rehearse, entryOf, reaches } = adapter
  return {
    capabilities: adapter.capabilities,
    resolve: (endpoints, call) => adapter.resolve(endpoints, call),
    inspect: (targets, call) => adapter.inspect(targets, call),
    snapshot: (targets, call) => adapter.snapshot(targets, call),
    drain: (targets, call) => inTurn.effect(call, (held) => adapter.drain(targets, held)),
    restore: (wanted, call) => inTurn.effect(call, (held) => adapter.restore(wanted, held)),
    ...(rehearse && { rehearse: (targets, call) => rehearse.call(adapter, targets, call) }),
    ...(entryOf && { entryOf: (target) => entryOf.call(adapter, target) }),
    ...(reaches && { reaches: (target) => reaches.call(adapter, target) }),
    async close() {
      await inTurn.quiet()
      await adapter.close()
    },
  }
}
