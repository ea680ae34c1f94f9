import { describe, expect, test } from 'vitest'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { PLAIN_SETTINGS, plainBalancer, plainScene } from './scene.ts'
import type { Actor } from './stage.ts'
import { isIn, isReady, openStage } from './stage.ts'
import { ended, upgradeTo } from './story.ts'

/*
 * A deadline comes during a silence on the path to the API server, which looks like no news. A pod that has become ready in time must not
 * be failed, or rolled back, by stale reads. Outages and stops shortly before a deadline are tested too.
 */

/** The pod is ready 8 s after the start of its container, or a little later. */
const COMES_UP = { ...PLAIN_SETTINGS, readyDeadlineMs: 10_000, restartDeadlineMs: 10_000 }

const timesIn = (state: string, { events }: Actor): number =>
  events.filter((event) => event.type === 'podState' && event.to === state).length

const SILENCES = [
  { what: 'everything', forMs: 0 },
  { what: 'everything', forMs: 8_000 },
  { what: 'everything', forMs: 20_000 },
  { what: 'open watches', forMs: 60_000 },
] as const

describe.each(['hold', 'rollback'] as const)('%s', (onFailure) => {
  test.each(SILENCES)('$what silent for $forMs ms as the pod gets ready in time', async ({ what, forMs }) => {
    const settings = { ...COMES_UP, onFailure }
    const stage = await openStage(plainScene({ readyAfterMs: 8_000, settings }))
    const actor = stage.start(upgradeTo('v2', settings))
    await stage.until(() => isIn('warming')(actor))
    await stage.pass(6_500)
    stage.silenceApiServer(forMs, what)
    expect(await ended(stage, actor)).toMatchObject({ outcome: 'done' })
    expect(stage.world.pods().map(isReady)).toEqual([true])
  })
})

// The rest of the deadline is shorter than `readyFor`.
test('it has its time to be ready for readyFor', async () => {
  const settings = { ...COMES_UP, readyForMs: 6_000, readyDeadlineMs: 15_000, onFailure: 'rollback' as const }
  const stage = await openStage(plainScene({ readyAfterMs: 8_000, settings }))
  const actor = stage.start(upgradeTo('v2', settings))
  await stage.until(() => isIn('warming')(actor))
  await stage.pass(6_500)
  stage.silenceApiServer(9_500)
  expect(await ended(stage, actor)).toMatchObject({ outcome: 'done' })
})

test('what comes in the place of a pod meanwhile is seen to have come', async () => {
  const settings = { ...PLAIN_SETTINGS, readyDeadlineMs: 10_000 }
  const stage = await openStage(plainScene({ readyAfterMs: 6_000, settings }))
  const actor = stage.start(upgradeTo('v2', settings))
  await stage.until(() => isIn('restarting')(actor))
  stage.world.cluster.deletePod(NAMESPACE, `${NAME}-0`, { force: true })
  await stage.until(() => isIn('settling')(actor))
  await stage.pass(4_000)
  stage.silenceApiServer(8_000)
  expect(await ended(stage, actor)).toMatchObject({ outcome: 'done' })
})

test('one that does not come up has failed as soon as that is seen, by the same deadline', async () => {
  const settings = { ...PLAIN_SETTINGS, restartDeadlineMs: 10_000 }
  const stage = await openStage(plainScene({ settings }))
  const actor = stage.start(upgradeTo('bad', settings))
  await stage.until(() => isIn('restarting')(actor))
  await stage.pass(9_000)
  stage.silenceApiServer(15_000)
  expect(await ended(stage, actor)).toMatchObject({ outcome: 'failed', pods: [{ outcome: 'failed', deadline: 'restart' }] })
})

// The rest of the deadline is shorter than the pause between two tries.
test.each(['away', 'silent'] as const)('what is left after a reload may be short: the API server is %s then', async (how) => {
  const stage = await openStage(
    plainScene({ readyAfterMs: 8_000, settings: COMES_UP, balancers: [plainBalancer({ volatile: true })] }),
  )
  const actor = stage.start(upgradeTo('v2', COMES_UP))
  await stage.until(() => isIn('warming')(actor))
  await stage.pass(5_500)
  stage.world.balancers.get('edge')!.reload()
  await stage.until(() => timesIn('warming', actor) === 2)
  if (how === 'away') stage.stopApiServer(8_000)
  else stage.silenceApiServer(8_000)
  expect(await ended(stage, actor)).toMatchObject({ outcome: 'done' })
})

// Each deadline needs a look of its own, even if it begins while another pod or deadline is handled.
test.each(['away', 'silent'] as const)('the API server is %s at both of its deadlines', async (how) => {
  const settings = { ...COMES_UP, readyForMs: 6_000, readyDeadlineMs: 20_000, onFailure: 'rollback' as const }
  const stage = await openStage(plainScene({ readyAfterMs: 25_000, settings: { ...settings, readyDeadlineMs: 60_000 } }))
  const actor = stage.start(upgradeTo('v2', settings))
  const lose = (forMs: number): void => (how === 'away' ? stage.stopApiServer(forMs) : stage.silenceApiServer(forMs))
  await stage.until(() => isIn('restarting')(actor))
  await stage.pass(100)
  lose(16_000)
  await stage.until(() => isIn('warming')(actor))
  await stage.pass(how === 'away' ? 7_500 : 8_500)
  lose(13_000)
  expect(await ended(stage, actor)).toMatchObject({ outcome: 'done' })
})

// The pod has been ready for 6 s at its deadline, and 5 of these seconds were unseen.
test.each(['away', 'silent', 'stopped'] as const)('%s shortly before its deadline', async (how) => {
  const settings = { ...COMES_UP, readyForMs: 6_000, readyDeadlineMs: 17_000, onFailure: 'rollback' as const }
  const stage = await openStage(plainScene({ readyAfterMs: 8_000, settings }))
  const actor = stage.start(upgradeTo('v2', settings))
  await stage.until(() => isIn('warming')(actor))
  await stage.pass(6_500)
  if (how === 'away') stage.stopApiServer(5_000)
  if (how === 'silent') stage.silenceApiServer(5_000)
  if (how === 'stopped') {
    actor.host.stop()
    await stage.pass(5_000)
    actor.host.continue()
  }
  expect(await ended(stage, actor)).toMatchObject({ outcome: 'done' })
})

// A crash during the outage restarts `readyFor`.
test('it has to be ready for readyFor, whatever nobody could see of that', async () => {
  const settings = { ...PLAIN_SETTINGS, readyForMs: 6_000 }
  const stage = await openStage(plainScene({ readyAfterMs: 4_000, settings }))
  const actor = stage.start(upgradeTo('v2', settings))
  await stage.until(() => isIn('warming')(actor))
  await stage.until(() => stage.world.pods().some(isReady))
  await stage.pass(1_500)
  stage.stopApiServer(4_000)
  await stage.pass(3_000)
  stage.world.cluster.crashContainer(NAMESPACE, `${NAME}-0`, 'app')
  await stage.until(() => !stage.world.pods().some(isReady))
  await stage.until(() => stage.world.pods().some(isReady))
  const readyAt = actor.host.clock.now()
  await stage.until(() => isIn('verifying')(actor))
  expect(actor.host.clock.now() - readyAt).toBeGreaterThan(6_000)
  expect(await ended(stage, actor)).toMatchObject({ outcome: 'done' })
})

// The pod was replaced, and must not be rolled back as if it was not.
test.each(SILENCES)('$what silent for $forMs ms at a deadline while it is drained again', async ({ what, forMs }) => {
  const settings = { ...PLAIN_SETTINGS, restartDeadlineMs: 10_000, onFailure: 'rollback' as const }
  const stage = await openStage(plainScene({ settings, balancers: [plainBalancer({ volatile: true })] }))
  const edge = stage.world.balancers.get('edge')!
  stage.world.cluster.setImage(imageOf('v2'), { digest: 'sha256:2', readyAfterMs: 1_000, pull: { ms: 11_000 } })
  const actor = stage.start(upgradeTo('v2', settings))
  await stage.until(() => isIn('restarting')(actor))
  await stage.pass(9_000)
  edge.reload()
  await stage.until(() => edge.state(`${NAME}-0`)?.admin !== 'ready')
  stage.stopBalancer('edge', 8_000)
  edge.reload()
  await stage.pass(500)
  stage.silenceApiServer(forMs, what)
  const { outcome, pods } = await ended(stage, actor)
  expect([outcome, pods[0]?.reason]).toEqual(['failed', expect.stringContaining('could not be read as out in time')])
})
