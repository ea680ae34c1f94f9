import { describe, expect, test } from 'vitest'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { PLAIN_SETTINGS, plainBalancer, plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { isIn, isReady, openStage } from './stage.ts'
import { ended, upgradeTo } from './story.ts'

/*
 * Found by a reviewer: a deadline came in a silence on the way to the API server. Nothing is broken then, as far as is known: a pod that had
 * come up in time was failed, or rolled back, by what was seen before that.
 */

/** The pod is ready 8 s after its container has started, and may take a little longer. */
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
  await stage.until(() => timesIn('warming', actor) === 2)
  if (how === 'away') stage.stopApiServer(8_000)
  else stage.silenceApiServer(8_000)
  expect(await ended(stage, actor)).toMatchObject({ outcome: 'done' })
})

// Found by a reviewer: a deadline that was begun while another pod, or another deadline, was looked after had no look of its own.
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

// Found by a reviewer: everything was listed anew for a deadline, which gave up the watches, and nothing was seen any more.
test('an API server that puts off lists, and nothing else, is no reason to fail a pod', async () => {
  const settings = { ...PLAIN_SETTINGS, maxUnavailable: { count: 2 }, restartDeadlineMs: 60_000, onFailure: 'rollback' as const }
  const drains = plainBalancer({ weights: [1, 1], longestRequestMs: 20_000 })
  const stage = await openStage(plainScene({ pods: 2, settings, balancers: [drains] }))
  stage.world.cluster.setImage(imageOf('v2'), { digest: 'sha256:2', readyAfterMs: 2_000, pull: { ms: 75_000 } })
  const actor = stage.start(upgradeTo('v2', settings))
  await stage.until(() => isIn('restarting', `${NAME}-0`)(actor))
  const restartsAt = actor.host.clock.now()
  await stage.until(() => isIn('patching', `${NAME}-1`)(actor))
  // It gets ready after the deadline of the other.
  const pullMs = restartsAt + 60_000 - actor.host.clock.now()
  stage.world.cluster.setImage(imageOf('v2'), { digest: 'sha256:2', readyAfterMs: 10_000, pull: { ms: pullMs } })
  const refused = putOffLists(stage)
  await stage.until(() => actor.end !== undefined)
  expect([actor.end?.outcome, refused()]).toEqual(['rolledBack', 0])
  const ends = Object.fromEntries(actor.end!.pods.map(({ pod, outcome }) => [pod, outcome]))
  expect(ends).toEqual({ 'web-0': 'rolledBack', 'web-1': 'upgraded' })
})

// … nor the deadline of what does not come in the place of another.
test('lists that are put off blind nobody: the watches go on', async () => {
  const settings = { ...PLAIN_SETTINGS, maxUnavailable: { count: 2 }, readyDeadlineMs: 20_000, onFailure: 'rollback' as const }
  const stage = await openStage(plainScene({ pods: 2, settings, balancers: [plainBalancer({ weights: [1, 1] })] }))
  const pull = (ms: number): void =>
    stage.world.cluster.setImage(imageOf('v2'), { digest: 'sha256:2', readyAfterMs: 1_000, pull: { ms } })
  pull(40_000)
  const actor = stage.start(upgradeTo('v2', settings))
  await stage.until(() => isIn('restarting', `${NAME}-0`)(actor) && isIn('restarting', `${NAME}-1`)(actor))
  await stage.pass(2_000)
  const refused = putOffLists(stage)
  pull(300_000)
  stage.world.cluster.deletePod(NAMESPACE, `${NAME}-0`, { force: true })
  await stage.until(() => actor.end !== undefined)
  const ends = Object.fromEntries(actor.end!.pods.map(({ pod, outcome }) => [pod, outcome]))
  expect(ends).toEqual({ 'web-0': 'needsOperator', 'web-1': 'upgraded' })
  expect(refused()).toBeGreaterThan(0)
  expect(refused()).toBeLessThan(20)
})

/** For good; tells how many. */
function putOffLists(stage: Stage): () => number {
  const { arrive } = stage.world
  let refused = 0
  stage.world.arrive = (request, by, leftAt) => {
    if (!request.path.includes('limit=')) return arrive(request, by, leftAt)
    refused += 1
    return { status: 429, headers: { 'retry-after': '1' }, text: '{"kind":"Status","reason":"TooManyRequests"}' }
  }
  return () => refused
}

// Found by a reviewer: it had been ready for 6 s as its deadline came, of which 5 were hidden.
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

// Found by a reviewer: it crashed in the outage, and was put back 0.2 s after it was ready again.
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

// Found by a reviewer: the pod was rolled back as one that was not replaced, though it was.
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

// Found by a reviewer: a pod that had long been ready was named as what held the others up.
test.each(SILENCES)('$what silent for $forMs ms as a run waits for another pod', async ({ what, forMs }) => {
  const settings = { ...PLAIN_SETTINGS, readyDeadlineMs: 20_000 }
  const stage = await openStage(plainScene({ pods: 2, readyAfterMs: 500, settings }))
  await ofThePart(stage, 1)
  stage.world.cluster.unready(NAMESPACE, `${NAME}-0`, 'app', 18_000)
  await stage.until(() => !stage.world.pods().every(isReady))
  const actor = stage.start({ ...upgradeTo('v2', settings), select: { labelSelector: 'part=one' } })
  await stage.until(() => isIn('queued')(actor))
  await stage.pass(15_500)
  stage.silenceApiServer(Math.min(forMs, 6_000), what)
  expect(await ended(stage, actor)).toMatchObject({ outcome: 'done' })
})

// Found by a reviewer: of many, that was seen in time, and decided a moment later.
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
