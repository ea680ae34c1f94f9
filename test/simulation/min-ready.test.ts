import { POD } from '../../src/workloads/kinds/pod.ts'
import { reasonWords } from '../../src/report/words/words.ts'
import { waitWords } from './told.ts'
import { expect, test } from 'vitest'
import { podView } from '../../src/pods/view.ts'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { PLAIN_SETTINGS, plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { openStage } from './stage.ts'
import { ended } from './story.ts'

/* `minReadySeconds` of the workload is the least time for which a pod has to be ready before it is put back and the next pod begins. */

const V2 = { images: [{ container: 'app', image: imageOf('v2') }] }

function setMinReady({ world }: Stage, minReadySeconds: number): void {
  world.server.store.update(
    'statefulsets.apps',
    NAMESPACE,
    NAME,
    (now) => ({ ...now, spec: { ...(now['spec'] as object), minReadySeconds } }),
    'operator',
  )
}

async function upgraded(minReadySeconds: number, readyForMs: number) {
  const stage = await openStage(plainScene({ pods: 2 }))
  setMinReady(stage, minReadySeconds)
  await stage.pass(60_000)
  const run = stage.start({ ...V2, settings: { ...PLAIN_SETTINGS, readyForMs } })
  const { outcome, pods = [] } = await ended(stage, run)
  const said = run.events.flatMap((event) => (event.type === 'podDetail' || event.type === 'podState' ? waitWords(event) : []))
  const warnings = run.events.flatMap((event) =>
    event.type === 'planned' ? event.plan.warnings.map((one) => reasonWords(one)) : [],
  )
  return { outcome, warmingMs: pods.map(({ phases }) => phases.warming ?? 0), said, warnings }
}

test('longer than readyFor, it counts, and the plan and the wait say so', async () => {
  const { outcome, warmingMs, said, warnings } = await upgraded(20, 1_000)
  expect([outcome, warmingMs.length, warmingMs.every((ms) => ms >= 20_000)]).toEqual(['done', 2, true])
  expect(said).toContain('ready, for minReadySeconds (20 s)')
  expect(warnings).toEqual([expect.stringContaining('statefulset/web has minReadySeconds')])
})

test('control: shorter than readyFor, it changes nothing', async () => {
  const { outcome, warmingMs, said, warnings } = await upgraded(2, 5_000)
  expect([outcome, warmingMs.every((ms) => ms >= 5_000 && ms < 20_000)]).toEqual(['done', true])
  expect(said).toContain('ready, for readyFor')
  expect(warnings).toEqual([])
})

/* For the window, too, a pod is available only after it has been Ready for `minReadySeconds`. */

const CRASHED = `${NAME}-0`
const OTHER = { ...V2, select: { refs: [{ ...POD, name: `${NAME}-1` }] } }

/** Restarts the container of pod 0, `restedMs` before the upgrade of pod 1 begins. */
async function afterACrash(minReadySeconds: number, restedMs: number) {
  const stage = await openStage(plainScene({ pods: 2 }))
  setMinReady(stage, minReadySeconds)
  await stage.pass(60_000)
  stage.world.cluster.crashContainer(NAMESPACE, CRASHED, 'app')
  await stage.until(() => !isCrashedReady(stage))
  await stage.until(() => isCrashedReady(stage))
  await stage.pass(restedMs)
  return { stage, run: stage.start(OTHER) }
}

function isCrashedReady({ world }: Stage): boolean {
  return podView(world.pods().find(({ metadata }) => metadata.name === CRASHED)).ready
}

function drainedAt({ events }: Actor): number {
  return events.find((event) => event.type === 'podState' && event.to === 'draining')!.atMs
}

const warningsOf = ({ events }: Actor): string[] =>
  events.flatMap((event) => (event.type === 'planned' ? event.plan.warnings.map((one) => reasonWords(one)) : []))
const TOO_SHORT = `${CRASHED} has been Ready for less than minReadySeconds`

test('no pod leaves while another has restarted by itself and is Ready for less; the plan says so', async () => {
  const { stage, run } = await afterACrash(20, 1_000)
  expect((await ended(stage, run)).outcome).toBe('done')
  expect(drainedAt(run)).toBeGreaterThan(17_000)
  expect(drainedAt(run)).toBeLessThan(30_000)
  // A pod that is named itself has the minimum of its owner.
  expect(run.end!.pods![0]!.phases.warming).toBeGreaterThanOrEqual(20_000)
  expect(warningsOf(run)).toContainEqual(expect.stringContaining(TOO_SHORT))
})

test.each([
  { minReadySeconds: 0, restedMs: 1_000 },
  { minReadySeconds: 20, restedMs: 30_000 },
])('control: with $minReadySeconds s, $restedMs ms after it, a run begins at once', async ({ minReadySeconds, restedMs }) => {
  const { stage, run } = await afterACrash(minReadySeconds, restedMs)
  expect((await ended(stage, run)).outcome).toBe('done')
  expect(drainedAt(run)).toBeLessThan(5_000)
  expect(warningsOf(run)).not.toContainEqual(expect.stringContaining(TOO_SHORT))
})

test('a pod that restarts by itself in the middle of a run is waited for as well', async () => {
  const stage = await openStage(plainScene({ pods: 3 }))
  setMinReady(stage, 20)
  await stage.pass(60_000)
  const run = stage.start(V2)
  const entries = (to: string) => run.events.flatMap((event) => (event.type === 'podState' && event.to === to ? [event] : []))
  await stage.until(() => entries('warming').length === 2)
  await stage.pass(15_000)
  // The pod has been upgraded, and is back.
  const { pod } = entries('draining')[0]!
  stage.world.cluster.crashContainer(NAMESPACE, pod, 'app')
  expect((await ended(stage, run)).outcome).toBe('done')
  const [, , third] = entries('draining')
  const secondIsBack = entries('done')[1]!
  expect(third!.atMs - secondIsBack.atMs).toBeGreaterThan(10_000)
  const waits = run.events.flatMap((event) => (event.type === 'podDetail' ? [reasonWords(event.waiting)] : []))
  expect(waits).toContain(`the window of 1 is full: ${pod} has been Ready for less than minReadySeconds`)
})

const TOO_LONG = 'statefulset/web has minReadySeconds 60, which is not shorter than deadlines.ready (60 s)'

test.each([
  { minReadySeconds: 60, ends: { outcome: 'refused', reason: TOO_LONG } },
  { minReadySeconds: 59, ends: { outcome: 'done' } },
])('with deadlines.ready 60s and minReadySeconds $minReadySeconds a run is $ends.outcome', async ({ minReadySeconds, ends }) => {
  const stage = await openStage(plainScene())
  setMinReady(stage, minReadySeconds)
  await stage.pass(90_000)
  const run = stage.start({ ...V2, settings: { ...PLAIN_SETTINGS, readyDeadlineMs: 60_000 } })
  expect(await ended(stage, run)).toMatchObject(ends)
})
