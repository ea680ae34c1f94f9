import type { Adapter, EffectCall, EffectResult } from '../../../adapters/contract.ts'
import { AdapterError } from '../../../adapters/contract.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LoadBalancer } from '../request.ts'
import { CALL_LIFE_MS } from '../traffic/scope-queues.ts'
import { createDocumentTurns, type DocumentTurns, type TurnsOptions } from './take-document.ts'

type Results = Map<string, EffectResult>
type Send = (call: EffectCall) => Promise<Results>

/**
 * Makes each change of a load balancer with a lock wait for the Lease of its document, which one process at a time holds. The deadline of
 * the call begins once the Lease is held.
 */
export function withinLocks(loadBalancers: readonly LoadBalancer[], options: TurnsOptions): LoadBalancer[] {
  const locked = new Map<KubeClient, Map<string, InTurn>>()
  return loadBalancers.map((loadBalancer) => {
    const { lock, adapter } = loadBalancer
    if (lock === undefined) return loadBalancer
    const ofCluster = locked.get(lock.client) ?? new Map<string, InTurn>()
    locked.set(lock.client, ofCluster)
    const key = JSON.stringify([lock.namespace, lock.document])
    const inTurn = ofCluster.get(key) ?? createInTurn(createDocumentTurns(lock, options), options.clock)
    ofCluster.set(key, inTurn)
    return { ...loadBalancer, adapter: withinLock(adapter, inTurn) }
  })
}

interface InTurn {
  /** `ids`: the targets that need an answer. */
  effect(ids: readonly string[], call: EffectCall, send: Send, signal: AbortSignal): Promise<Results>
  /** Resolves once no call is under way, and each Lease that can be given back is given back. */
  quiet(): Promise<void>
}

/** Runs the calls of this process one at a time, in their order. */
function createInTurn(turns: DocumentTurns, clock: Clock): InTurn {
  let last: Promise<void> = Promise.resolve()

  /** Sends the call, and settles `answer`. Resolves once the Lease is given back, or left to run out. */
  async function sendAfter(
    before: Promise<void>,
    { ids, call, send, signal }: { ids: readonly string[]; call: EffectCall; send: Send; signal: AbortSignal },
    answer: PromiseWithResolvers<Results>,
  ): Promise<void> {
    // The time counts from now. Calls that wait one after another would otherwise delay the reads behind them, and the deadlines of pods.
    const until = clock.now() + CALL_LIFE_MS
    await before
    try {
      const held = await turns.take({ until, signal, assertLive: () => call.assertLive() })
      let isSent = false
      let isHalted = false
      const assertLive = (): void => {
        isHalted = true
        call.assertLive()
        held.assertFresh()
        isHalted = false
        isSent = true
      }
      const sent = send({ ...call, assertLive, deadlineMs: Math.min(call.deadlineMs, held.leftMs()) })
      answer.resolve(sent)
      const isOver = await sent.then((results) => ids.every((id) => isSettled(results.get(id))), isDefinite)
      // A halted call may have sent a part before.
      if (!isSent || (isOver && !isHalted)) await held.giveBack()
      else held.leave()
    } catch (error) {
      answer.reject(error)
    }
  }

  return {
    effect(ids, call, send, signal) {
      const answer = Promise.withResolvers<Results>()
      last = sendAfter(last, { ids, call, send, signal }, answer)
      return answer.promise
    },
    quiet: () => last,
  }
}

function isSettled(result: EffectResult | undefined): boolean {
  if (result === undefined) return false
  if (result.outcome === 'failed') return isDefinite(result.error)
  return result.outcome === 'applied'
}

/** Reports whether no part of the call can arrive any more. */
function isDefinite(error: unknown): boolean {
  return error instanceof AdapterError && error.kind !== 'ambiguous'
}

function withinLock(adapter: Adapter, inTurn: InTurn): Adapter {
  const closing = new AbortController()
  const { signal } = closing
  const { rehearse, healthChecks, entries, entryOf, reaches } = adapter
  return {
    capabilities: adapter.capabilities,
    resolve: (endpoints, call) => adapter.resolve(endpoints, call),
    inspect: (targets, call) => adapter.inspect(targets, call),
    snapshot: (targets, call) => adapter.snapshot(targets, call),
    drain(targets, call) {
      const ids = targets.map(({ id }) => id)
      return inTurn.effect(ids, call, (held) => adapter.drain(targets, held), signal)
    },
    restore(wanted, call) {
      const ids = wanted.map(({ target }) => target.id)
      return inTurn.effect(ids, call, (held) => adapter.restore(wanted, held), signal)
    },
    ...(rehearse && { rehearse: (targets, call) => rehearse.call(adapter, targets, call) }),
    ...(healthChecks && { healthChecks: (call) => healthChecks.call(adapter, call) }),
    ...(entries && { entries: (call) => entries.call(adapter, call) }),
    ...(entryOf && { entryOf: (target) => entryOf.call(adapter, target) }),
    ...(reaches && { reaches: (target) => reaches.call(adapter, target) }),
    async close() {
      closing.abort()
      await Promise.all([adapter.close(), inTurn.quiet()])
    },
  }
}
