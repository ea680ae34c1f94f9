import { expect, test } from 'vitest'
import { NAME, NAMESPACE } from './manifests.ts'
import { plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { isIn, isReady, openStage } from './stage.ts'
import { ended, upgradeTo } from './story.ts'

/*
 * The intent to put a pod back is stored, and then the load balancer and the API server are away. When both return, the restore must not
 * rest on stale reads: the pod may have crashed, or another pod may have its address.
 */

const POD = `${NAME}-0`

/** Runs until the restore is to be tried again. The load balancer and the API server return after `awayMs`. */
async function openUntilBothAreAway(awayMs: number): Promise<{ stage: Stage; actor: Actor }> {
  const stage = await openStage(plainScene({ pods: 1, readyAfterMs: 8_000 }))
  const actor = stage.start(upgradeTo('v2'))
  await stage.until(() => isIn('warming')(actor))
  await stage.pass(5_000)
  stage.stopBalancer('edge', 4_000 + awayMs)
  await stage.until(() => isIn('restoring')(actor))
  await stage.pass(500)
  stage.stopApiServer(awayMs)
  return { stage, actor }
}

/** Waits until the target is in rotation. Reports whether a present pod was ready then. */
async function wasReadyAsItWasPutBack({ stage, actor }: { stage: Stage; actor: Actor }): Promise<boolean> {
  const isBack = (): boolean => stage.world.balancers.get('edge')!.state(POD)?.admin === 'ready'
  await stage.until(() => isBack() || actor.end !== undefined)
  return stage.world.pods().some(isReady)
}

test.each([8_000, 10_000, 12_000])('a pod that has crashed is put back when it is ready (away for %d ms)', async (awayMs) => {
  const { stage, actor } = await openUntilBothAreAway(awayMs)
  await stage.pass(awayMs - 2_000)
  stage.world.cluster.crashContainer(NAMESPACE, POD, 'app')
  expect(await wasReadyAsItWasPutBack({ stage, actor })).toBe(true)
  expect(await ended(stage, actor)).toMatchObject({ outcome: 'done' })
  expect(stage.world.pods().map(isReady)).toEqual([true])
})

test.each([8_000, 10_000])('so is another that has come at its address (away for %d ms)', async (awayMs) => {
  const { stage, actor } = await openUntilBothAreAway(awayMs)
  await stage.pass(awayMs - 3_000)
  stage.world.cluster.deletePod(NAMESPACE, POD, { force: true })
  expect(await wasReadyAsItWasPutBack({ stage, actor })).toBe(true)
  expect(await ended(stage, actor)).toMatchObject({ outcome: 'done' })
  expect(stage.world.pods().map(isReady)).toEqual([true])
})

test('control: one that is ready is put back while nobody answers for it', async () => {
  const stage = await openStage(plainScene({ pods: 1 }))
  const actor = stage.start(upgradeTo('v2'))
  await stage.until(() => isIn('warming')(actor))
  stage.stopBalancer('edge', 3_000)
  await stage.until(() => isIn('restoring')(actor))
  await stage.pass(500)
  stage.stopApiServer(30_000)
  const goneAt = actor.host.clock.now()
  expect(await wasReadyAsItWasPutBack({ stage, actor })).toBe(true)
  expect([actor.end, actor.host.clock.now() - goneAt < 30_000]).toEqual([undefined, true])
  expect(await ended(stage, actor)).toMatchObject({ outcome: 'done' })
})

/** Runs until the restore is to be tried again. The load balancer returns after 11.5 s, and the news about the pods long after that. */
async function openUntilWatchesAreSilent(): Promise<{ stage: Stage; actor: Actor }> {
  const stage = await openStage(plainScene({ readyAfterMs: 8_000 }))
  const actor = stage.start(upgradeTo('v2'))
  await stage.until(() => isIn('warming')(actor))
  await stage.pass(5_000)
  stage.stopBalancer('edge', 12_000)
  await stage.until(() => isIn('restoring')(actor))
  await stage.pass(500)
  stage.silenceApiServer(60_000, 'open watches')
  return { stage, actor }
}

// A silence looks like no news, so earlier reads must not count as current.
test.each(['it crashes', 'another comes'] as const)('its watches have been silent since: %s', async (what) => {
  const { stage, actor } = await openUntilWatchesAreSilent()
  await stage.pass(5_000)
  if (what === 'it crashes') stage.world.cluster.crashContainer(NAMESPACE, POD, 'app')
  else stage.world.cluster.deletePod(NAMESPACE, POD, { force: true })
  expect(await wasReadyAsItWasPutBack({ stage, actor })).toBe(true)
  expect(await ended(stage, actor)).toMatchObject({ outcome: 'done' })
  expect(stage.world.pods().map(isReady)).toEqual([true])
})

// An API server that puts off the request counts as available.
test('its watches have been silent since it crashed, and who asks for it is put off', async () => {
  const { stage, actor } = await openUntilWatchesAreSilent()
  const { arrive } = stage.world
  let asked = 0
  stage.world.arrive = (request, by, leftAt) => {
    if (request.method !== 'GET' || !request.path.endsWith(`/pods/${POD}`) || asked++ % 2 === 1)
      return arrive(request, by, leftAt)
    return { status: 429, headers: { 'retry-after': '1' }, text: '{"kind":"Status","reason":"TooManyRequests"}' }
  }
  await stage.pass(5_000)
  stage.world.cluster.crashContainer(NAMESPACE, POD, 'app')
  expect(await wasReadyAsItWasPutBack({ stage, actor })).toBe(true)
  expect(asked).toBeGreaterThan(1)
  expect(await ended(stage, actor)).toMatchObject({ outcome: 'done' })
})

// The right to call the load balancer runs out after a while.
test.each([1_000, 2_000])(
  'control: nor is one that is ready kept out by a silence, after %d ms without the load balancer',
  async (ms) => {
    const stage = await openStage(plainScene({ readyAfterMs: 3_000 }))
    const actor = stage.start(upgradeTo('v2'))
    await stage.until(() => isIn('warming')(actor))
    await onceWritten(stage, actor, () => stage.stopBalancer('edge', ms))
    await stage.pass(200)
    stage.silenceApiServer(75_000)
    const at = actor.host.clock.now()
    expect(await wasReadyAsItWasPutBack({ stage, actor })).toBe(true)
    expect(actor.host.clock.now() - at).toBeLessThan(6_000)
    expect(await ended(stage, actor)).toMatchObject({ outcome: 'done' })
  },
)

// A late answer is not current.
test('the answer to its intent was long on its way', async () => {
  const stage = await openStage(plainScene({ readyAfterMs: 8_000 }))
  const actor = stage.start(upgradeTo('v2'))
  await stage.until(() => isIn('warming')(actor))
  await onceWritten(stage, actor, () => {
    stage.silenceApiServer(60_000, 'open watches')
    stage.silenceApiServer(8_000)
  })
  await stage.pass(3_000)
  stage.world.cluster.deletePod(NAMESPACE, POD, { force: true })
  expect(await wasReadyAsItWasPutBack({ stage, actor })).toBe(true)
})

/** Calls `then` when the next write to the pod has arrived. */
async function onceWritten(stage: Stage, actor: Actor, then: () => void): Promise<void> {
  const { arrive } = stage.world
  let isWritten = false
  stage.world.arrive = (request, by, leftAt) => {
    const answer = arrive(request, by, leftAt)
    if (!isWritten && by === actor.host.name && request.method === 'PATCH' && request.path.includes(`/pods/${POD}`)) {
      isWritten = true
      then()
    }
    return answer
  }
  await stage.until(() => isWritten)
}
