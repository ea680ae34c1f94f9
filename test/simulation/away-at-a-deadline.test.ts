import { expect, test } from 'vitest'
import { NAME, NAMESPACE } from './manifests.ts'
import { PLAIN_SETTINGS, plainScene } from './scene.ts'
import { isIn, openStage } from './stage.ts'
import { ended, upgradeTo } from './story.ts'

/* A deadline that passes while the API server is away fails no pod, and rolls none back: the pod may have come up in time unseen. */

/** The pod is ready 8 s after the start of its container, or a little later. */
const COMES_UP = {
  pods: 1,
  readyAfterMs: 8_000,
  settings: { ...PLAIN_SETTINGS, readyDeadlineMs: 10_000, restartDeadlineMs: 10_000 },
}

for (const onFailure of ['hold', 'rollback'] as const) {
  test.each([0, 5_000, 30_000])(`${onFailure}: the API server is away for %d ms as the pod gets ready in time`, async (forMs) => {
    const settings = { ...COMES_UP.settings, onFailure }
    const stage = await openStage(plainScene({ ...COMES_UP, settings }))
    const actor = stage.start(upgradeTo('v2', settings))
    await stage.until(() => isIn('warming')(actor))
    await stage.pass(6_500)
    expect(isIn('warming')(actor)).toBe(true)
    if (forMs > 0) stage.stopApiServer(forMs)
    expect(await ended(stage, actor)).toMatchObject({ outcome: 'done' })
  })
}

// The second absence begins after the pod has been ready for `readyFor`, while the deadline waits for that.
test('the API server may go away twice', async () => {
  const settings = { ...COMES_UP.settings, readyForMs: 6_000, readyDeadlineMs: 15_000, onFailure: 'rollback' as const }
  const stage = await openStage(plainScene({ ...COMES_UP, settings }))
  const actor = stage.start(upgradeTo('v2', settings))
  await stage.until(() => isIn('warming')(actor))
  await stage.pass(6_500)
  stage.stopApiServer(9_500)
  await stage.pass(15_500)
  stage.stopApiServer(4_000)
  expect(await ended(stage, actor)).toMatchObject({ outcome: 'done' })
})

test('what comes in the place of a pod in time, while the API server is away, is seen to have come', async () => {
  const settings = { ...PLAIN_SETTINGS, readyDeadlineMs: 10_000 }
  const stage = await openStage(plainScene({ pods: 1, readyAfterMs: 6_000, settings }))
  const actor = stage.start(upgradeTo('v2', settings))
  await stage.until(() => isIn('restarting')(actor))
  stage.world.cluster.deletePod(NAMESPACE, `${NAME}-0`, { force: true })
  await stage.until(() => isIn('settling')(actor))
  await stage.pass(4_000)
  stage.stopApiServer(8_000)
  expect(await ended(stage, actor)).toMatchObject({ outcome: 'done' })
})

test('one that does not come up has failed as soon as that is seen, by the same deadline', async () => {
  const settings = { ...PLAIN_SETTINGS, restartDeadlineMs: 10_000 }
  const stage = await openStage(plainScene({ pods: 1, settings }))
  const actor = stage.start(upgradeTo('bad', settings))
  await stage.until(() => isIn('restarting')(actor))
  await stage.pass(9_000)
  stage.stopApiServer(15_000)
  const end = await ended(stage, actor)
  expect(end).toMatchObject({ outcome: 'failed', pods: [{ outcome: 'failed', deadline: 'restart' }] })
})
