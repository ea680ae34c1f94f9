import type { Adapter, Call, EffectResult, Json, Target, TargetObservation, TargetSnapshot } from '../../../adapters/contract.ts'
import { AdapterError } from '../../../adapters/contract.ts'
import { pause } from '../../kube/pause.ts'
import type { Clock } from '../../ports/clock.ts'

/**
 * The calls to one scope of a load balancer, one at a time. What waits while a call is under way goes out together as
 * the next one: batching without a timer. The wire call belongs to this queue and is waited out; no pod's deadline or
 * interrupt reaches it, else one pod would make its batch mates ambiguous. A load balancer that says when it takes calls
 * again is asked nothing before that.
 */
export interface ScopeQueue {
  inspect(target: Target): Promise<TargetObservation>
  snapshot(target: Target): Promise<TargetSnapshot>
  effect(request: EffectRequest): Promise<EffectDone>
}

export interface EffectRequest {
  kind: 'drain' | 'restore'
  target: Target
  /** For a restore. */
  prior: Json
  operation: string
  fence: number
  /** Throws where the right to this effect is lost: asked when it leaves the queue, and again right before the bytes leave. */
  assertLive(): void
}

export interface EffectDone {
  result: EffectResult
  /** Targets in the same wire call. */
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
  /** Milliseconds that one wire call may take. */
  callLifeMs: number
}

/** What is asked to wait for longer is asked again, so that deadlines and interrupts are not forgotten meanwhile. */
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
        // What was asked for in the same turn goes out together.
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
   * The oldest, and all of its kind that wait behind it, each target once. The calls to one target keep their order;
   * those to different targets need none. A call carries one fence, so that only effects of the same epoch share it:
   * a higher one would lock out the target's own owner.
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

  /** Gives the milliseconds that the load balancer wants to be left alone for. */
  async function send(batch: Item[]): Promise<number> {
    const { kind } = batch[0]!
    const liveness = createLiveness(batch)
    const call: Call = { deadlineMs: callLifeMs, assertLive: liveness.assert }
    const targets = batch.map(({ target }) => target)
    /** Not sent because of others of its batch, of another run perhaps. */
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
      // A snapshot fails as a whole for the sake of one target: it must not be the end of another pod's turn.
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

/** Which effects of a batch may still be sent, asked right before the bytes leave. What halts a call says of whom it is. */
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
    /** The call, or a part of it, was not sent for that reason. */
    isHalt,
    isHaltOf: (item: Item, error: unknown): boolean => isHalt(error) && lost.has(item),
    whyOf: (item: Item): unknown => lost.get(item),
    /** A part of the call may have been sent before that. */
    hasPassed: () => passed,
  }
}

/** It may be: what is wrong with the load balancer itself passes, mostly. */
function isOfOneTarget(error: unknown): boolean {
  return error instanceof AdapterError && (error.kind === 'not-found' || error.kind === 'fatal')
}

function holdOf(result: EffectResult | { error?: unknown }): number {
  const error = 'error' in result ? result.error : undefined
  const waitMs = error instanceof AdapterError && error.kind === 'throttled' ? error.retryAfterMs : undefined
  return Math.min(waitMs ?? 0, LONGEST_HOLD_MS)
}
