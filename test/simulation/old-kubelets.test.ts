import { expect, test } from 'vitest'
import { imageOf, NAME } from './manifests.ts'
import { PLAIN_SETTINGS, plainBalancer, plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { isIn, openStage } from './stage.ts'

/* What proves a restart, and ends a doubt, where the digest of before comes under a new tag. */

const RETAGGED = { images: [{ container: 'app', image: imageOf('v1-again') }] }
/** Shorter than the minute that time alone takes to prove it. */
const SHORT = { ...PLAIN_SETTINGS, restartDeadlineMs: 40_000 }

async function endOf(stage: Stage, actor: Actor): Promise<Actor['end']> {
  await stage.until(() => actor.end !== undefined)
  return actor.end
}

/** What kubelets tell comes to nothing. */
function dropEvents({ world: { server } }: Stage): void {
  server.store.subscribe((resource, { after }) => {
    if (resource !== 'events' || after === undefined) return
    const { namespace = '', name } = after.metadata
    queueMicrotask(() => server.store.remove('events', namespace, name, 'nobody'))
  })
}

// Seen on 1.32.13: the deadline was over before the proof, and the pod stayed out.
test.each([
  { told: 'by an Event', isTold: true, oldKubelets: true, proof: 'event' },
  { told: 'by nothing', isTold: false, oldKubelets: true, proof: 'quiet' },
  { told: 'by its generation', isTold: true, oldKubelets: false, proof: 'witness' },
])('a kubelet tells $told of the restart: $proof, within a deadline of 40 s', async ({ isTold, oldKubelets, proof }) => {
  const stage = await openStage(plainScene({ oldKubelets, pods: 1, readyAfterMs: 0 }))
  if (!isTold) dropEvents(stage)
  const end = await endOf(stage, stage.start({ ...RETAGGED, settings: SHORT }))
  expect(end).toMatchObject({ outcome: 'done', pods: [{ outcome: 'upgraded', proof }] })
})

// Found by a fresh user: an abort took a minute for each such pod, and Ctrl-C left it out.
test.each([
  { oldKubelets: false, outcome: 'unchanged' },
  { oldKubelets: true, outcome: 'interrupted' },
])('interrupted before the patch, on an image with two names ($oldKubelets): $outcome', async ({ oldKubelets, outcome }) => {
  const balancers = [plainBalancer({ longestRequestMs: 10_000 })]
  const stage = await openStage(plainScene({ oldKubelets, pods: 1, readyAfterMs: 0, balancers }))
  expect(await endOf(stage, stage.start(RETAGGED))).toMatchObject({ outcome: 'done' })
  const next = stage.start({ images: [{ container: 'app', image: imageOf('v2') }] })
  await stage.until(() => isIn('emptying', `${NAME}-0`)(next))
  next.interrupt()
  const end = await endOf(stage, next)
  expect(end).toMatchObject({ outcome: 'interrupted', pods: [{ outcome, out: outcome !== 'unchanged' }] })
})
