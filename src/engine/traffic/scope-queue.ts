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
    const most = waiting[0]?.effect === undefined ? Infinity : Math.max(1, adapter.capabilities.batch.max)
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
    const assertLive = (): void => {
      for (const { effect } of batch) effect?.assertLive()
    }
    const call: Call = { deadlineMs: callLifeMs, assertLive }
    const targets = batch.map(({ target }) => target)
    try {
      const results = await answer(kind, batch, targets, call)
      let holdMs = 0
      for (const item of batch) {
        const result = results.get(item.target.id)
        if (result === undefined)
          item.reject(new AdapterError('engine', 'ambiguous', `the adapter gave no result for ${item.target.id}`))
        else item.resolve(item.effect ? { result, batch: batch.length } : result)
        if (item.effect) holdMs = Math.max(holdMs, holdOf((result as EffectResult | undefined) ?? {}))
      }
      return holdMs
    } catch (error) {
      // A snapshot fails as a whole for the sake of one target: it must not be the end of another pod's turn.
      if (kind === 'snapshot' && batch.length > 1 && isOfOneTarget(error)) {
        let holdMs = 0
        for (const item of batch) holdMs = Math.max(holdMs, await send([item]))
        return holdMs
      }
      for (const item of batch) item.reject(error)
      return holdOf({ error })
    }
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

/** It may be: what is wrong with the load balancer itself passes, mostly. */
function isOfOneTarget(error: unknown): boolean {
  return error instanceof AdapterError && (error.kind === 'not-found' || error.kind === 'fatal')
}

function holdOf(result: EffectResult | { error?: unknown }): number {
  const error = 'error' in result ? result.error : undefined
  const waitMs = error instanceof AdapterError && error.kind === 'throttled' ? error.retryAfterMs : undefined
  return Math.min(waitMs ?? 0, LONGEST_HOLD_MS)
}
