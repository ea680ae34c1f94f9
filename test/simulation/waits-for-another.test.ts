import { expect, test } from 'vitest'
import { NAME, NAMESPACE } from './manifests.ts'
import { PLAIN_SETTINGS, plainBalancer, plainScene } from './scene.ts'
import type { Stage } from './stage.ts'
import { isIn, isReady, openStage } from './stage.ts'
import { ended, upgradeTo } from './story.ts'

/* A run gives up where none of its pods may leave while another pod is not ready. It must not name a pod that has long been ready. */

test.each([
  { what: 'everything', forMs: 0 },
  { what: 'everything', forMs: 6_000 },
  { what: 'open watches', forMs: 60_000 },
] as const)('$what silent for $forMs ms as a run waits for another pod', async ({ what, forMs }) => {
  const settings = { ...PLAIN_SETTINGS, readyDeadlineMs: 20_000 }
  const stage = await openStage(plainScene({ pods: 2, readyAfterMs: 500, settings }))
  await ofThePart(stage, 1)
  stage.world.cluster.unready(NAMESPACE, `${NAME}-0`, 'app', 18_000)
  await stage.until(() => !stage.world.pods().every(isReady))
  const actor = stage.start({ ...upgradeTo('v2', settings), select: { labelSelector: 'part=one' } })
  await stage.until(() => isIn('queued')(actor))
  await stage.pass(15_500)
  stage.silenceApiServer(forMs, what)
  expect(await ended(stage, actor)).toMatchObject({ outcome: 'done' })
})

// With many pods, the change is seen in time, and the decision follows a moment later.
test('a process that was stopped as it waited for another pod', async () => {
  const settings = { ...PLAIN_SETTINGS, readyDeadlineMs: 20_000 }
  const weights = Array.from({ length: 40 }, () => 1)
  const stage = await openStage(plainScene({ pods: 40, readyAfterMs: 500, settings, balancers: [plainBalancer({ weights })] }))
  for (let place = 0; place < 39; place++) await ofThePart(stage, place)
  stage.world.cluster.unready(NAMESPACE, `${NAME}-39`, 'app', 18_000)
  await stage.until(() => !stage.world.pods().every(isReady))
  const actor = stage.start({ ...upgradeTo('v2', settings), select: { labelSelector: 'part=one' } })
  await stage.until(() => isIn('queued')(actor))
  await stage.pass(15_000)
  actor.host.stop()
  await stage.pass(8_000)
  actor.host.continue()
  await stage.until(() => isIn('draining')(actor) || actor.end !== undefined)
  expect(actor.end).toBeUndefined()
})

async function ofThePart(stage: Stage, place: number): Promise<void> {
  const path = `/api/v1/namespaces/${NAMESPACE}/pods/${NAME}-${place}`
  await stage.ask(stage.client.patch(path, [{ op: 'add', path: '/metadata/labels/part', value: 'one' }]))
}

test('control: one that stays so is what it gives up for', async () => {
  const settings = { ...PLAIN_SETTINGS, readyDeadlineMs: 20_000 }
  const stage = await openStage(plainScene({ pods: 2, readyAfterMs: 500, settings }))
  await ofThePart(stage, 1)
  stage.world.cluster.unready(NAMESPACE, `${NAME}-0`, 'app', 600_000)
  await stage.until(() => !stage.world.pods().every(isReady))
  const actor = stage.start({ ...upgradeTo('v2', settings), select: { labelSelector: 'part=one' } })
  expect(await ended(stage, actor)).toMatchObject({
    outcome: 'deadline',
    reason: expect.stringContaining(`${NAME}-0 is not ready`),
  })
})
