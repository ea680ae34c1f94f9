import { POD } from '../../src/workloads/kinds/pod.ts'
import { STATEFUL_SET } from '../../src/workloads/kinds/stateful-set.ts'
import { expect, test } from 'vitest'
import { prepareAbort } from '../../src/engine/orders/abort.ts'
import { readOpenRuns } from '../../src/engine/orders/open-runs.ts'
import { resolvePod } from '../../src/engine/resolving/resolve.ts'
import type { PodState } from '../../src/engine/events.ts'
import { prepareAbortCommand } from './abort-command.ts'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { PLAIN_SETTINGS, plainBalancer, plainScene } from './scene.ts'
import { addStatefulSet } from './other-workload.ts'
import type { Actor, Stage } from './stage.ts'
import { isIn, openStage } from './stage.ts'

/* Aborts of several runs at once, and of runs of several workloads, by the whole of `sluice abort`. */

const toTag = (tag: string) => ({ images: [{ container: 'app', image: imageOf(tag) }] })

const of = (...names: string[]) => ({ select: { refs: names.map((name) => ({ ...STATEFUL_SET, name }) as const) } })

const pods = (...places: number[]) => ({
  select: { refs: places.map((place) => ({ ...POD, name: `${NAME}-${place}` }) as const) },
})

/** Opens a stage with the workload of the scene with one pod, and further workloads with one pod each. */
async function stageWith(...others: string[]): Promise<Stage> {
  const stage = await openStage(plainScene({ pods: 1 }))
  for (const name of others) await addStatefulSet(stage, name)
  return stage
}

/** Runs `sluice abort` as an operator does. */
async function abort(stage: Stage, request: ReturnType<typeof of> | ReturnType<typeof pods>): Promise<Actor['end']> {
  const asked = { namespace: NAMESPACE, settings: PLAIN_SETTINGS, ...request }
  const actor = stage.start({}, (ports) => prepareAbortCommand(asked, ports))
  return endOf(stage, actor)
}

async function endOf(stage: Stage, actor: Actor): Promise<Actor['end']> {
  await stage.until(() => actor.end !== undefined)
  return actor.end
}

const BOTH = { settings: { ...PLAIN_SETTINGS, maxUnavailable: { count: 2 } } }

async function killedIn(
  state: PodState,
  stage: Stage,
  request: Parameters<Stage['start']>[0],
  ...names: string[]
): Promise<void> {
  const actor = stage.start(request)
  await stage.until(() => names.every((name) => isIn(state, name)(actor)))
  actor.host.kill()
}

/** Starts a run, and interrupts it after it has changed the templates and before it changes a pod. */
async function interrupted(stage: Stage, tag: string, ...names: string[]): Promise<void> {
  const actor = stage.start({ ...toTag(tag), ...of(...names) })
  await stage.until(() => actor.events.some(({ type }) => type === 'started'))
  actor.interrupt()
  expect(await endOf(stage, actor)).toMatchObject({ outcome: 'interrupted' })
}

/** Returns the image of each template. */
function templates({ world: { server } }: Stage): Record<string, string> {
  const found = server.store.list('statefulsets.apps', NAMESPACE) as unknown as {
    metadata: { name: string }
    spec: { template: { spec: { containers: { name: string; image: string }[] } } }
  }[]
  const appOf = ({ spec }: (typeof found)[number]) =>
    spec.template.spec.containers.find(({ name }) => name === 'app' || name === 'main')!.image
  return Object.fromEntries(found.map((one) => [one.metadata.name, appOf(one)]))
}

const V1 = imageOf('v1')

async function openOf(stage: Stage, ...names: string[]): Promise<number> {
  const open = await stage.ask(readOpenRuns(stage.client, { namespace: NAMESPACE, ...of(...names) }))
  return open.runs.length
}

const adminOf = ({ world }: Stage, pod: string) => world.balancers.get('edge')!.state(pod)?.admin

async function remove(stage: Stage, name: string): Promise<void> {
  await stage.ask(stage.client.delete(`/apis/apps/v1/namespaces/${NAMESPACE}/statefulsets/${name}`))
  await stage.pass(30_000)
}

/** Records the statement of an operator that a pod is in rotation, by the clock of a host of its own. */
async function sayIsIn(stage: Stage, pod: string): Promise<void> {
  const { clock } = stage.start(of('none')).host
  const ports = { client: stage.client, clock, random: { next: () => 0.5 }, identity: 'ann' }
  const told = { signal: new AbortController().signal, onWaiting() {}, onTrouble() {} }
  await stage.ask(resolvePod({ namespace: NAMESPACE, pod, traffic: 'in', loadBalancers: [] }, { ...ports, ...told }))
}

// An abort ends every open run of the workloads, not only the newest.
test.each([
  { what: 'drained', state: 'emptying' },
  { what: 'patched', state: 'restarting' },
] as const)('two runs of a workload each, both killed with a pod $what: an abort of both ends both', async ({ state }) => {
  const stage = await stageWith('other')
  await killedIn(state, stage, { ...toTag('v2'), ...of(NAME) }, `${NAME}-0`)
  await killedIn(state, stage, { ...toTag('v3'), ...of('other') }, 'other-0')
  expect([adminOf(stage, `${NAME}-0`), adminOf(stage, 'other-0')]).toEqual(['drain', 'drain'])
  expect(await abort(stage, of(NAME, 'other'))).toMatchObject({ outcome: 'aborted' })
  expect([adminOf(stage, `${NAME}-0`), adminOf(stage, 'other-0')]).toEqual(['ready', 'ready'])
  expect([templates(stage), await openOf(stage, NAME, 'other')]).toEqual([{ [NAME]: V1, other: V1 }, 0])
})

test('and where neither has a container of the name that the other run is about', async () => {
  const stage = await stageWith()
  await addStatefulSet(stage, 'other', 'main')
  const main = { images: [{ container: 'main', image: imageOf('v3') }] }
  await killedIn('restarting', stage, { ...toTag('v2'), ...of(NAME) }, `${NAME}-0`)
  await killedIn('restarting', stage, { ...main, ...of('other') }, 'other-0')
  expect(await abort(stage, of(NAME, 'other'))).toMatchObject({ outcome: 'aborted' })
  expect([adminOf(stage, `${NAME}-0`), adminOf(stage, 'other-0')]).toEqual(['ready', 'ready'])
  expect([templates(stage), await openOf(stage, NAME, 'other')]).toEqual([{ [NAME]: V1, other: V1 }, 0])
})

test('a run of two workloads, and a later one of the first alone: an abort of both gives both templates back', async () => {
  const stage = await stageWith('other')
  await interrupted(stage, 'v2', NAME, 'other')
  await interrupted(stage, 'v3', NAME)
  expect(await abort(stage, of(NAME, 'other'))).toMatchObject({ outcome: 'aborted' })
  expect([templates(stage), await openOf(stage, NAME, 'other')]).toEqual([{ [NAME]: V1, other: V1 }, 0])
})

// An abort works for the rest of a run's workloads where one workload is gone.
test('one workload of two is gone for good: an abort of the other ends the run', async () => {
  const stage = await stageWith('other')
  await killedIn('emptying', stage, { ...toTag('v2'), ...of(NAME, 'other') }, `${NAME}-0`)
  expect(adminOf(stage, 'other-0')).toBe('ready')
  await remove(stage, 'other')
  expect(await abort(stage, of(NAME))).toMatchObject({ outcome: 'aborted' })
  expect([adminOf(stage, `${NAME}-0`), templates(stage), await openOf(stage, NAME)]).toEqual(['ready', { [NAME]: V1 }, 0])
})

test('and with its pod drained: what is there is brought home, what is left is named, and said once, the abort is over', async () => {
  const stage = await stageWith('other')
  await killedIn('emptying', stage, { ...toTag('v2'), ...of(NAME, 'other'), ...BOTH }, `${NAME}-0`, 'other-0')
  await remove(stage, 'other')
  expect(await abort(stage, of(NAME))).toMatchObject({
    outcome: 'failed',
    reason: expect.stringContaining('not settled: other-0'),
  })
  expect([adminOf(stage, `${NAME}-0`), templates(stage), await openOf(stage, NAME)]).toEqual(['ready', { [NAME]: V1 }, 1])
  await sayIsIn(stage, 'other-0')
  expect(await abort(stage, of(NAME))).toMatchObject({ outcome: 'aborted' })
  expect(await openOf(stage, NAME)).toBe(0)
})

test('and of bare pods, of which one is gone', async () => {
  const stage = await openStage(plainScene({ pods: 2, workload: 'Pod', hostNetwork: true }))
  await killedIn('emptying', stage, { ...toTag('v2'), ...pods(0, 1) }, `${NAME}-0`, `${NAME}-1`)
  stage.world.cluster.deletePod(NAMESPACE, `${NAME}-0`, { force: true })
  await stage.pass(30_000)
  expect(await abort(stage, pods(1))).toMatchObject({ outcome: 'aborted' })
  expect([adminOf(stage, `${NAME}-0`), adminOf(stage, `${NAME}-1`)]).toEqual(['ready', 'ready'])
})

test('control: nothing of one run is there: it is not called aborted with the other, which an abort of its own ends', async () => {
  const stage = await stageWith('other')
  await killedIn('emptying', stage, { ...toTag('v2'), ...of(NAME) }, `${NAME}-0`)
  await killedIn('emptying', stage, { ...toTag('v3'), ...of('other') }, 'other-0')
  await remove(stage, 'other')
  expect((await abort(stage, of(NAME, 'other')))?.reason).toContain('there is no statefulset/other')
  expect(await abort(stage, of(NAME))).toMatchObject({ outcome: 'aborted' })
  expect([adminOf(stage, `${NAME}-0`), await openOf(stage, NAME)]).toEqual(['ready', 0])
})

/** Leaves a run of both workloads, and a later run of the second workload to an image that does not start. */
async function withBadOther(): Promise<Stage> {
  const stage = await stageWith('other')
  await interrupted(stage, 'v2', NAME, 'other')
  const bad = stage.start({ ...toTag('crash'), ...of('other'), settings: { ...PLAIN_SETTINGS, restartDeadlineMs: 20_000 } })
  expect(await endOf(stage, bad)).toMatchObject({ outcome: 'failed' })
  expect(templates(stage)).toEqual({ [NAME]: imageOf('v2'), other: imageOf('crash') })
  return stage
}

// An order to abort does not concern a later run that is not about its workload.
test('a later run has the second workload of two: an abort of the first is of the first alone', async () => {
  const stage = await withBadOther()
  expect(await abort(stage, of(NAME))).toMatchObject({ outcome: 'aborted' })
  expect([templates(stage), await openOf(stage, NAME)]).toEqual([{ [NAME]: V1, other: imageOf('crash') }, 0])
  expect(await openOf(stage, 'other')).toBe(1)
  await abort(stage, of('other'))
  expect(templates(stage)).toEqual({ [NAME]: V1, other: V1 })
})

// An abort of one workload takes back the other templates of its runs too.
test('and an abort of the second, of which both runs are, is of all that they are about', async () => {
  const stage = await withBadOther()
  await abort(stage, of('other'))
  expect(templates(stage)).toEqual({ [NAME]: V1, other: V1 })
  expect(await openOf(stage, NAME)).toBe(0)
})

test('and an older and a newer run of the first, of which the older is of both: an abort of the first ends the two', async () => {
  const stage = await stageWith('other')
  await interrupted(stage, 'v2', NAME, 'other')
  await interrupted(stage, 'v3', NAME)
  await interrupted(stage, 'v4', 'other')
  expect(await abort(stage, of(NAME))).toMatchObject({ outcome: 'aborted' })
  expect([templates(stage), await openOf(stage, NAME)]).toEqual([{ [NAME]: V1, other: imageOf('v4') }, 0])
  expect(await openOf(stage, 'other')).toBe(1)
})

test('the later run has the pod of the second half done, as the run of both had left it: the abort of the first says so', async () => {
  const stage = await stageWith('other')
  await killedIn('emptying', stage, { ...toTag('v2'), ...of(NAME, 'other'), ...BOTH }, 'other-0')
  await killedIn('restarting', stage, { ...toTag('v3'), ...of('other') }, 'other-0')
  expect(await abort(stage, of(NAME))).toMatchObject({
    outcome: 'failed',
    reason: expect.stringContaining('not settled: other-0'),
  })
  expect([adminOf(stage, 'other-0'), templates(stage)]).toEqual(['drain', { [NAME]: V1, other: imageOf('v3') }])
  expect(await abort(stage, of('other'))).toMatchObject({ outcome: 'aborted' })
  expect([adminOf(stage, 'other-0'), templates(stage)]).toEqual(['ready', { [NAME]: V1, other: V1 }])
  expect(await openOf(stage, NAME, 'other')).toBe(0)
})

test('control: of two that were asked for another run has begun the first: the order does not mean it, and nothing is ended', async () => {
  const stage = await stageWith('other')
  const open = (...names: string[]) => stage.ask(readOpenRuns(stage.client, { namespace: NAMESPACE, ...of(...names) }))
  await killedIn('emptying', stage, { ...toTag('v2'), ...of(NAME) }, `${NAME}-0`)
  const [before] = (await open(NAME)).runs
  await killedIn('restarting', stage, { ...toTag('v3'), ...of(NAME) }, `${NAME}-0`)
  // The clock of its machine is used.
  await interrupted(stage, 'v4', 'other')
  const both = await open(NAME, 'other')
  const runs = [before!.run, both.runs[0]!.run]
  const actor = stage.start({}, (ports) =>
    prepareAbort({ namespace: NAMESPACE, settings: PLAIN_SETTINGS, open: both, runs, by: 'ann', seen: new Map() }, ports),
  )
  const reason = expect.stringMatching(`^run ${both.runs[1]!.run} was begun after the order`)
  expect(await endOf(stage, actor)).toMatchObject({ reason })
  expect(await openOf(stage, NAME, 'other')).toBe(3)
})

test('one that begins while the abort is about to is not ended with it: the same command again leaves that to it', async () => {
  const stage = await stageWith('other')
  await interrupted(stage, 'v2', NAME, 'other')
  const asked = { namespace: NAMESPACE, settings: PLAIN_SETTINGS, ...of(NAME) }
  const { promise: isBegun, resolve: begun } = Promise.withResolvers<void>()
  let isPrepared = false
  const slow = stage.start({}, async (ports) => {
    const prepared = await prepareAbortCommand(asked, ports)
    isPrepared = true
    return { ...prepared, execute: () => isBegun.then(() => prepared.execute()) }
  })
  await stage.until(() => isPrepared)
  await interrupted(stage, 'v3', 'other')
  begun()
  expect(await endOf(stage, slow)).toMatchObject({
    outcome: 'conflict',
    reason: expect.stringContaining('was begun after the order'),
  })
  expect(await abort(stage, of(NAME))).toMatchObject({ outcome: 'aborted' })
  expect([templates(stage), await openOf(stage, NAME)]).toEqual([{ [NAME]: V1, other: imageOf('v3') }, 0])
})

test('a living run of the first, after one of two: it ends itself, and the abort what is left of the other', async () => {
  const stage = await openStage(plainScene({ pods: 1, balancers: [plainBalancer({ longestRequestMs: 20_000 })] }))
  await addStatefulSet(stage, 'other')
  await interrupted(stage, 'v2', NAME, 'other')
  const living = stage.start({ ...toTag('v3'), ...of(NAME) })
  await stage.until(() => isIn('emptying')(living))
  expect(await abort(stage, of(NAME))).toMatchObject({ outcome: 'aborted' })
  expect(living.end).toMatchObject({ outcome: 'aborted' })
  expect([templates(stage), await openOf(stage, NAME, 'other')]).toEqual([{ [NAME]: V1, other: V1 }, 0])
})

test('an older run that the order does not mean stays open for what it alone is about', async () => {
  const stage = await stageWith('other', 'third')
  await interrupted(stage, 'v2', 'other', 'third')
  await interrupted(stage, 'v3', NAME, 'other')
  expect(await abort(stage, of(NAME))).toMatchObject({ outcome: 'aborted' })
  expect(templates(stage)).toEqual({ [NAME]: V1, other: V1, third: imageOf('v2') })
  expect(await openOf(stage, NAME)).toBe(0)
  expect(await abort(stage, of('third'))).toMatchObject({ outcome: 'aborted' })
  expect([templates(stage), await openOf(stage, 'other', 'third')]).toEqual([{ [NAME]: V1, other: V1, third: V1 }, 0])
})
