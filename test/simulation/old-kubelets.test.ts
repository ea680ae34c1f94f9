import { expect, test } from 'vitest'
import type { RaisedDeadline } from '../../src/plan/plan.ts'
import { prepareAbortCommand } from './abort-command.ts'
import { imageOf, NAME } from './manifests.ts'
import { PLAIN_SETTINGS, plainBalancer, plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { isIn, openStage } from './stage.ts'
import { upgradeTo } from './story.ts'

/* The proofs of a restart and the ends of a doubt where a new tag has the digest of the old image. */

const RETAGGED = { images: [{ container: 'app', image: imageOf('v1-again') }] }
/** A deadline shorter than the minute after which time alone is a proof. */
const SHORT = { ...PLAIN_SETTINGS, restartDeadlineMs: 40_000 }

async function endOf(stage: Stage, actor: Actor): Promise<Actor['end']> {
  await stage.until(() => actor.end !== undefined)
  return actor.end
}

function raisedOf({ events }: Actor): RaisedDeadline[] | undefined {
  return events.flatMap((event) => (event.type === 'planned' ? [event.plan] : [])).at(-1)!.raisedDeadlines
}

/** Deletes the Events of the kubelets. */
function dropEvents({ world: { server } }: Stage): void {
  server.store.subscribe((resource, { after }) => {
    if (resource !== 'events' || after === undefined) return
    const { namespace = '', name } = after.metadata
    queueMicrotask(() => server.store.remove('events', namespace, name, 'nobody'))
  })
}

// The proof must come before the deadline (seen on 1.32.13).
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

test.each([
  { oldKubelets: true, raised: [{ deadline: 'restart', configuredMs: 40_000, raisedMs: 60_000, pods: [`${NAME}-0`] }] },
  { oldKubelets: false, raised: undefined },
])(
  'a plan says which deadline is shorter than the proof by time (old kubelets: $oldKubelets)',
  async ({ oldKubelets, raised }) => {
    const stage = await openStage(plainScene({ oldKubelets, pods: 1, readyAfterMs: 0 }))
    const run = stage.start({ ...RETAGGED, settings: SHORT })
    await endOf(stage, run)
    expect(raisedOf(run)).toEqual(raised)
    const enough = stage.start({ images: [], undo: {}, settings: { ...SHORT, rollbackDeadlineMs: 60_000 } })
    await endOf(stage, enough)
    expect(raisedOf(enough)).toBeUndefined()
  },
)

test('no deadline of an undo is shorter than the proof that it waits for, and its plan says so', async () => {
  const stage = await openStage(plainScene({ oldKubelets: true, pods: 1, readyAfterMs: 0 }))
  dropEvents(stage)
  const settings = { ...SHORT, rollbackDeadlineMs: 40_000 }
  expect(await endOf(stage, stage.start({ ...RETAGGED, settings }))).toMatchObject({ outcome: 'done' })
  const undo = stage.start({ undo: {}, settings })
  expect(await endOf(stage, undo)).toMatchObject({ outcome: 'done', pods: [{ outcome: 'upgraded', proof: 'quiet' }] })
  expect(raisedOf(undo)).toMatchObject([{ deadline: 'rollback', configuredMs: 40_000 }])
})

test('nor is one of an abort that brings a patched pod home', async () => {
  const stage = await openStage(plainScene({ oldKubelets: true, pods: 1, readyAfterMs: 0 }))
  dropEvents(stage)
  const run = stage.start({ ...RETAGGED, settings: SHORT })
  await stage.until(() => isIn('restarting', `${NAME}-0`)(run))
  run.host.kill()
  const { namespace, select } = upgradeTo('v1-again')
  const abort = stage.start({}, (ports) => prepareAbortCommand({ namespace, select, settings: SHORT }, ports))
  await endOf(stage, abort)
  expect(abort.end).toMatchObject({ pods: [{ outcome: 'upgraded', proof: 'quiet', out: false }] })
})

// An interrupt or an abort must neither take a minute for each such pod nor leave it out.
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
