/** Steps that the cases share. */
import assert from 'node:assert/strict'
import {
  type Adapter,
  AdapterError,
  type EffectCall,
  type EffectResult,
  type Endpoint,
  type Json,
  type Target,
  type TargetObservation,
  type TargetSnapshot,
} from '../contract.ts'
import type { Bed } from './bed.ts'

/** The deadline of a call in milliseconds. It is long enough for every answer, so only a fault makes a call reach it. */
const DEADLINE_MS = 20_000
/** The deadline of a call without an answer, in milliseconds. */
export function shortDeadlineMs(bed: Bed): number {
  return bed.shortDeadlineMs ?? 300
}

export function effectCall(targets: readonly Target[], over: Partial<EffectCall> = {}): EffectCall {
  const operationIds = new Map(targets.map(({ id }) => [id, `operation-${id}`]))
  return { deadlineMs: DEADLINE_MS, assertLive: () => {}, operationIds, fence: 1, ...over }
}

export async function resolveAll(adapter: Adapter, endpoints: readonly Endpoint[]): Promise<Target[]> {
  const resolutions = await adapter.resolve(endpoints, effectCall([]))
  return resolutions.map((resolution) => {
    if (!resolution.found) assert.fail(resolution.reason)
    assert.equal(resolution.targets.length, 1, 'one target for each endpoint')
    return resolution.targets[0]!
  })
}

/** Makes an adapter and finds the target of the first pod. */
export async function begin(bed: Bed): Promise<{ adapter: Adapter; endpoint: Endpoint; target: Target }> {
  const adapter = bed.adapter()
  const endpoint = bed.endpoints[0]!
  const [target] = await resolveAll(adapter, [endpoint])
  return { adapter, endpoint, target: target! }
}

export async function inspectOne(adapter: Adapter, target: Target): Promise<TargetObservation> {
  const observation = (await adapter.inspect([target], effectCall([]))).get(target.id)
  assert.ok(observation, 'inspect answers for the target')
  return observation
}

export async function snapshotOne(adapter: Adapter, target: Target): Promise<TargetSnapshot> {
  const snapshot = (await adapter.snapshot([target], effectCall([]))).get(target.id)
  assert.ok(snapshot, 'snapshot answers for the target')
  assert.deepEqual(JSON.parse(JSON.stringify(snapshot.prior)), snapshot.prior, 'the prior state is plain JSON')
  return snapshot
}

export function drainOne(adapter: Adapter, target: Target, over?: Partial<EffectCall>): Promise<EffectResult> {
  return effectOf(adapter.drain([target], effectCall([target], over)), target)
}

export function restoreOne(adapter: Adapter, target: Target, prior: Json, over?: Partial<EffectCall>): Promise<EffectResult> {
  return effectOf(adapter.restore([{ target, prior }], effectCall([target], over)), target)
}

/** The result for the target. An adapter may throw the error of the whole call, or put it into the result of each target. */
async function effectOf(called: Promise<Map<string, EffectResult>>, { id }: Target): Promise<EffectResult> {
  try {
    const result = (await called).get(id)
    assert.ok(result, 'an effect answers for the target')
    return result
  } catch (error) {
    if (error instanceof AdapterError) return { outcome: 'failed', error }
    throw error
  }
}

export function assertApplied(result: EffectResult | undefined): void {
  if (result?.outcome === 'failed') assert.fail(`applied, not ${result.error.kind}: ${result.error.message}`)
  assert.equal(result?.outcome, 'applied')
}

export function assertFailed(result: EffectResult | undefined, kind: AdapterError['kind']): void {
  assert.equal(result?.outcome, 'failed')
  if (result?.outcome === 'failed') assert.equal(result.error.kind, kind, result.error.message)
}

/** Asserts that the drain of this adapter has taken the target out of rotation. */
export function assertDrained(admin: string): void {
  assert.ok(admin === 'draining' || admin === 'out', `drained, not ${admin}`)
}

/** The uids of the pods that answer this number of requests. */
export async function sample(bed: Bed, requests: number): Promise<Set<string>> {
  const reached = new Set<string>()
  for (let sent = 0; sent < requests; sent += 1) reached.add(await bed.traffic.request())
  return reached
}

/** Waits for a condition of the load balancer, which updates its counts a moment after the client has its answer. */
export async function eventually(condition: () => Promise<boolean>, what: string): Promise<void> {
  const giveUpAt = performance.now() + DEADLINE_MS
  while (!(await condition())) {
    assert.ok(performance.now() < giveUpAt, `never: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

export function pause(delayMs: number): Promise<void> {
  return delayMs === 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, delayMs))
}
