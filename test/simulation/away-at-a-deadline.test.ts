import { expect, test } from 'vitest'
import { prepareRun } from '../../src/engine/run.ts'
import { podView } from '../../src/pods/view.ts'
import { NAME, NAMESPACE } from './manifests.ts'
import { PLAIN_SETTINGS, plainScene } from './scene.ts'
import { isIn, isReady, openStage } from './stage.ts'
import { ended, upgradeTo } from './story.ts'

/*
 * Found by a reviewer: a deadline came while the API server was away. The pod had come up in time, which nobody could see: it was failed,
 * or rolled back, and stayed out of rotation.
 */

/** The pod is ready 8 s after its container has started, and may take a little longer. */
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

// The second time as it has been ready for readyFor, and the deadline waits for that.
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

// A run that is on record, or whose template has its images, has touched something: found by the same reviewer.
test.each([
  { forMs: 4_000, tag: 'v2', outcome: 'done' },
  { forMs: 60_000, tag: 'v2', outcome: 'deadline' },
  { forMs: 60_000, tag: 'v3', outcome: 'deadline' },
])('the API server is away for $forMs ms as a run looks for what is gone, on $tag: $outcome', async ({ forMs, tag, outcome }) => {
  const stage = await openStage(plainScene({ pods: 2 }))
  const pod = `${NAME}-1`
  const first = stage.start(upgradeTo('v2'))
  await stage.until(() => isIn('emptying', pod)(first))
  first.host.kill()
  stage.world.cluster.deletePod(NAMESPACE, pod, { force: true })
  await stage.until(() => stage.world.pods().length === 2 && stage.world.pods().every(isReady))
  const heir = stage.world.pods().find(({ metadata }) => metadata.name === pod)!
  stage.world.balancers.get('edge')!.operator.set(pod, { address: podView(heir).ip! })
  const request = upgradeTo(tag)
  let isOnRecord = false
  let isAway = false
  const next = stage.start(request, (ports) => {
    const { client } = ports
    const create: typeof client.create = (path, ...rest) => {
      isOnRecord ||= path.endsWith('/configmaps')
      return client.create(path, ...rest)
    }
    const patch: typeof client.patch = (path, ...rest) => {
      isOnRecord ||= path.includes('/configmaps/')
      return client.patch(path, ...rest)
    }
    const get: typeof client.get = (path, ...rest) => {
      if (isOnRecord && !isAway && path.endsWith(`/pods/${pod}`)) {
        isAway = true
        stage.stopApiServer(forMs)
      }
      return client.get(path, ...rest)
    }
    return prepareRun(request, { ...ports, client: { ...client, create, patch, get } })
  })
  const end = await ended(stage, next)
  expect([isAway, end.outcome]).toEqual([true, outcome])
  if (outcome !== 'deadline') return
  await stage.pass(forMs)
  expect(await ended(stage, stage.start(request))).toMatchObject({ outcome: 'done' })
})
