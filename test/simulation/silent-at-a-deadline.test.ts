import { expect, test } from 'vitest'
import { NAME, NAMESPACE } from './manifests.ts'
import { PLAIN_SETTINGS, plainBalancer, plainScene } from './scene.ts'
import { isIn, isReady, openStage } from './stage.ts'
import { ended, upgradeTo } from './story.ts'

/*
 * Found by a reviewer: a deadline came in a silence on the way to the API server. Nothing is broken then, as far as is known: a pod that had
 * come up in time was failed, or rolled back, by what was seen before that.
 */

/** The pod is ready 8 s after its container has started, and may take a little longer. */
const COMES_UP = { ...PLAIN_SETTINGS, readyDeadlineMs: 10_000, restartDeadlineMs: 10_000 }

for (const onFailure of ['hold', 'rollback'] as const) {
  test.each([0, 8_000, 20_000])(`${onFailure}: nothing comes through for %d ms as the pod gets ready in time`, async (forMs) => {
    const settings = { ...COMES_UP, onFailure }
    const stage = await openStage(plainScene({ readyAfterMs: 8_000, settings }))
    const actor = stage.start(upgradeTo('v2', settings))
    await stage.until(() => isIn('warming')(actor))
    await stage.pass(6_500)
    if (forMs > 0) stage.silenceApiServer(forMs)
    expect(await ended(stage, actor)).toMatchObject({ outcome: 'done' })
    expect(stage.world.pods().map(isReady)).toEqual([true])
  })
}

// Less than that is left as it is seen to be ready.
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

// Of its deadline less is left than a pause between two tries takes.
test.each(['away', 'silent'] as const)('what is left after a reload may be short: the API server is %s then', async (how) => {
  const stage = await openStage(
    plainScene({ readyAfterMs: 8_000, settings: COMES_UP, balancers: [plainBalancer({ volatile: true })] }),
  )
  const actor = stage.start(upgradeTo('v2', COMES_UP))
  await stage.until(() => isIn('warming')(actor))
  await stage.pass(5_500)
  stage.world.balancers.get('edge')!.reload()
  await stage.until(() => actor.events.filter((event) => event.type === 'podState' && event.to === 'warming').length === 2)
  if (how === 'away') stage.stopApiServer(8_000)
  else stage.silenceApiServer(8_000)
  expect(await ended(stage, actor)).toMatchObject({ outcome: 'done' })
})
