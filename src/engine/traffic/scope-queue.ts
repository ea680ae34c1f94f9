import type { Adapter, Call, EffectResult, Json, Target, TargetObservation, TargetSnapshot } from '../../../adapters/contract.ts'
import { AdapterError } from '../../../adapters/contract.ts'
import { pause } from '../../kube/pause.ts'
import type { Clock } from '../../ports/clock.ts'

/**
 * The calls to one scope of a load balancer, one at a time. Requests that wait during a call go out together as the next call, which makes
 * batches without a timer. The queue waits for the end of each call: a deadline or interrupt of one pod must not make the results of its
 * batch ambiguous. A load balancer that names a time to wait gets no call before that.
 */
export interface ScopeQueue {
  inspect(target: Target): Promise<TargetObservation>
  snapshot(target: Target): Promise<TargetSnapshot>
  effect(request: EffectRequest): Promise<EffectDone>
}

export interface EffectRequest {
  kind: 'drain' | 'restore'
  target: Target
  /** The prior state, for a restore. */
  prior: Json
  operation: string
  fence: number
  /** Throws where the right to the effect is lost. It is asked when the effect leaves the queue, and again right before the bytes leave. */
  assertLive(): void
}

export interface EffectDone {
  result: EffectResult
  /** The number of targets in the same wire call. */
  batch: number
}

type Kind = 'inspect' | 'snapshot' | 'drain' | 'restore'

interface Item {
  kind: Kind
  target: Target
  effect?: EffectRequest
  resolve(value: unknown): void
  reject(error: unknown): void
}

export interface ScopeQueueOptions {
  clock: Clock
  adapter: Adapter
  /** The time that one wire call may take, in milliseconds. */
  callLifeMs: number
}

/** The longest hold. Within it, deadlines and interrupts are looked at again. */
const LONGEST_HOLD_MS = 10_000

export function createScopeQueue({ clock, adapter, callLifeMs }: ScopeQueueOptions): ScopeQueue {
  const waiting: Item[] = []
  let busy = false

  function enqueue<T>(item: Omit<Item, 'resolve' | 'reject'>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      waiting.push({ ...item, resolve: resolve as (value: unknown) => void, reject })
      if (!busy) void run()
    })
  }

  async function run(): Promise<void> {
    busy = true
    try {
      for (;;) {
        // The requests of the same turn go out together.
        await Promise.resolve()
        const batch = takeBatch()
        if (batch.length === 0) return
        const holdMs = await send(batch)
        if (holdMs > 0) await pause(clock, holdMs)
      }
    } finally {
      busy = false
    }
  }

  /**
   * Takes the oldest request, and all waiting requests of its kind, each target once. Calls to one target keep their order; calls to
   * different targets need none. Effects share a call only with the same fence, that is the epoch: a higher fence would lock out the owner
   * of the other target.
   */
  function takeBatch(): Item[] {
    const batch: Item[] = []
    const targets = new Set<string>()
    const kind = waiting[0]?.kind
    const fence = waiting[0]?.effect?.fence
    const most = waiting[0]?.effect === undefined ? Infinity : Math.max(1, adapter.capabilities.maxBatch)
    for (let index = 0; index < waiting.length && batch.length < most;) {
      const item = waiting[index]!
      if (item.kind !== kind || item.effect?.fence !== fence || targets.has(item.target.id)) {
        targets.add(item.target.id)
        index++
        continue
      }
      waiting.splice(index, 1)
      try {
        item.effect?.assertLive()
      } catch (error) {
        item.reject(error)
        continue
      }
      targets.add(item.target.id)
      batch.push(item)
    }
    return batch.length === 0 && waiting.length > 0 ? takeBatch() : batch
  }

  /** Sends a batch. Returns the milliseconds for which the load balancer wants no calls. */
  async function send(batch: Item[]): Promise<number> {
    const { kind } = batch[0]!
    const liveness = createLiveness(batch)
    const call: Call = { deadlineMs: callLifeMs, assertLive: liveness.assert }
    const targets = batch.map(({ target }) => target)
    /** The requests that were not sent because of others in the batch, which may be another run's. */
    const unsent: Item[] = []
    let holdMs = 0

    function settle(item: Item, result: unknown): void {
      const error = (result as Partial<{ error: unknown }>).error
      if (item.effect === undefined) return item.resolve(result)
      holdMs = Math.max(holdMs, holdOf({ error }))
      if (liveness.isHaltOf(item, error)) item.reject(liveness.whyOf(item))
      else if (liveness.isHalt(error)) unsent.push(item)
      else item.resolve({ result, batch: batch.length })
    }

    try {
      const results = await answer(kind, batch, targets, call)
      for (const item of batch) {
        const result = results.get(item.target.id)
        if (result === undefined)
          item.reject(new AdapterError('engine', 'ambiguous', `the adapter gave no result for ${item.target.id}`))
        else settle(item, result)
      }
    } catch (error) {
      // A snapshot fails as a whole for one target, so the requests are sent one by one. The error must reach only its own pod.
      if (kind === 'snapshot' && batch.length > 1 && isOfOneTarget(error)) {
        for (const item of batch) holdMs = Math.max(holdMs, await send([item]))
        return holdMs
      }
      holdMs = holdOf({ error })
      for (const item of batch) {
        if (liveness.isHaltOf(item, error)) item.reject(liveness.whyOf(item))
        else if (liveness.isHalt(error) && !liveness.hasPassed()) unsent.push(item)
        else item.reject(error)
      }
    }
    waiting.unshift(...unsent)
    return holdMs
  }

  function answer(kind: Kind, batch: Item[], targets: Target[], call: Call): Promise<Map<string, unknown>> {
    if (kind === 'inspect') return adapter.inspect(targets, call)
    if (kind === 'snapshot') return adapter.snapshot(targets, call)
    const operationIds = new Map(batch.map(({ target, effect }) => [target.id, effect!.operation]))
    const effectCall = { ...call, operationIds, fence: batch[0]!.effect!.fence }
    if (kind === 'drain') return adapter.drain(targets, effectCall)
    return adapter.restore(
      batch.map(({ target, effect }) => ({ target, prior: effect!.prior })),
      effectCall,
    )
  }

  return {
    inspect: (target) => enqueue({ kind: 'inspect', target }),
    snapshot: (target) => enqueue({ kind: 'snapshot', target }),
    effect: (effect) => enqueue({ kind: effect.kind, target: effect.target, effect }),
  }
}

/** Tells which effects of a batch may still be sent, right before the bytes leave. A halt of the call names the requests that caused it. */
function createLiveness(batch: readonly Item[]) {
  const lost = new Map<Item, unknown>()
  let halt: { error: unknown } | undefined
  let passed = false
  const isHalt = (error: unknown): boolean => halt !== undefined && error === halt.error

  return {
    assert(): void {
      for (const item of batch) {
        try {
          item.effect?.assertLive()
        } catch (error) {
          lost.set(item, error)
          halt ??= { error }
        }
      }
      if (halt !== undefined) throw halt.error
      passed = true
    },
    /** Reports whether the call, or a part of it, was not sent because of the halt. */
    isHalt,
    isHaltOf: (item: Item, error: unknown): boolean => isHalt(error) && lost.has(item),
    whyOf: (item: Item): unknown => lost.get(item),
    /** Reports whether a part of the call may have been sent before the halt. */
    hasPassed: () => passed,
  }
}

/** Reports whether the error may concern a single target. Errors of the load balancer itself mostly pass. */
function isOfOneTarget(error: unknown): boolean {
  return error instanceof AdapterError && (error.kind === 'not-found' || error.kind === 'fatal')
}

function holdOf(result: EffectResult | { error?: unknown }): number {
  const error = 'error' in result ? result.error : undefined
  const waitMs = error instanceof AdapterError && error.kind === 'throttled' ? error.retryAfterMs : undefined
  return Math.min(waitMs ?? 0, LONGEST_HOLD_MS)
}
