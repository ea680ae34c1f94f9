import { expect, test } from 'vitest'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { PLAIN_SETTINGS, plainScene } from './scene.ts'
import type { Stage } from './stage.ts'
import { isReady, openStage } from './stage.ts'

/* The kubelet holds back a container that ended shortly before, even with a good image. A rollback therefore has its own deadline. */

const POD = `${NAME}-0`
/** The number of crashes. Each crash doubles the back-off of the former image: 10 s, 20 s, 40 s, and 80 s at the rollback. */
const CRASHES = 4

async function crashOften(stage: Stage): Promise<void> {
  const isPodReady = (): boolean => stage.world.pods().every(isReady)
  for (let crash = 0; crash < CRASHES; crash++) {
    stage.world.cluster.crashContainer(NAMESPACE, POD, 'app')
    await stage.until(() => !isPodReady())
    await stage.until(isPodReady)
  }
}

test.each([
  { rollbackDeadlineMs: 300_000, ends: { outcome: 'rolledBack', pods: [{ out: false, deadline: 'restart' }] } },
  { rollbackDeadlineMs: 1_000, ends: { outcome: 'failed', pods: [{ out: true, deadline: 'rollback' }] } },
])(
  'a former image that the kubelet holds back for longer than deadlines.restart: $rollbackDeadlineMs ms for the rollback',
  async ({ rollbackDeadlineMs, ends }) => {
    const stage = await openStage(plainScene({ pods: 1, readyAfterMs: 0 }))
    await crashOften(stage)
    const deadlines = { readyDeadlineMs: 5_000, restartDeadlineMs: 1_000, rollbackDeadlineMs }
    const run = stage.start({
      images: [{ container: 'app', image: imageOf('crash') }],
      settings: { ...PLAIN_SETTINGS, onFailure: 'rollback', ...deadlines },
    })
    await stage.until(() => run.end !== undefined)
    expect(run.end).toMatchObject(ends)
  },
)

test.each([
  { rollbackDeadlineMs: 300_000, ends: { outcome: 'done', pods: [{ outcome: 'upgraded' }] } },
  { rollbackDeadlineMs: 1_000, ends: { outcome: 'failed', pods: [{ out: true, deadline: 'rollback' }] } },
])('an undo has the deadline of the way back too, $rollbackDeadlineMs ms', async ({ rollbackDeadlineMs, ends }) => {
  const stage = await openStage(plainScene({ pods: 1, readyAfterMs: 0 }))
  await crashOften(stage)
  const settings = { ...PLAIN_SETTINGS, readyDeadlineMs: 5_000, restartDeadlineMs: 1_000, rollbackDeadlineMs }
  const run = stage.start({ images: [{ container: 'app', image: imageOf('crash') }], settings })
  await stage.until(() => run.end !== undefined)
  expect(run.end).toMatchObject({ outcome: 'failed', pods: [{ out: true, deadline: 'restart' }] })
  const undo = stage.start({ undo: {}, settings })
  await stage.until(() => undo.end !== undefined)
  expect(undo.end).toMatchObject(ends)
})
