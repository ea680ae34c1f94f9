import { STATEFUL_SET } from '../../src/workloads/kinds/stateful-set.ts'
import { expect, test } from 'vitest'
import { prepareAbort } from '../../src/engine/orders/abort.ts'
import { giveOrder } from '../../src/engine/orders/give-order.ts'
import { readOpenRuns } from '../../src/engine/orders/open-runs.ts'
import { resolvePod } from '../../src/engine/resolving/resolve.ts'
import { readStatus } from '../../src/engine/status/read-status.ts'
import { prepareRun } from '../../src/engine/run.ts'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { PLAIN_SETTINGS, plainBalancer, plainScene } from './scene.ts'
import { addStatefulSet } from './other-workload.ts'
import type { Actor, Stage } from './stage.ts'
import { isIn, isReady, openStage } from './stage.ts'

/* Records of several runs about one pod, or about several workloads. */

const toTag = (tag: string) => ({ images: [{ container: 'app', image: imageOf(tag) }] })

const of = (...names: string[]) => ({ select: { refs: names.map((name) => ({ ...STATEFUL_SET, name }) as const) } })

/** Records the statement of an operator about a pod, by the clock of a host of its own. */
async function say(stage: Stage, pod: string, traffic: 'in' | 'out'): Promise<void> {
  const { clock } = stage.start(of('none')).host
  const ports = { client: stage.client, clock, random: { next: () => 0.5 }, identity: 'ann' }
  const told = { signal: new AbortController().signal, onWaiting() {}, onTrouble() {} }
  await stage.ask(resolvePod({ namespace: NAMESPACE, pod, traffic, loadBalancers: [] }, { ...ports, ...told }))
}

// A pod of an earlier run was put back by hand. The drain of a later run is not settled by that.
test('a person has put a pod back, and the next run is killed with it drained, and it goes: what was drained for it is looked after', async () => {
  const stage = await openStage(plainScene({ pods: 1, fixedAddresses: false, preStopMs: 30_000, graceSeconds: 60 }))
  const pod = `${NAME}-0`
  const edge = stage.world.balancers.get('edge')!
  const settings = { ...PLAIN_SETTINGS, readyDeadlineMs: 90_000, restartDeadlineMs: 120_000, restoreDeadlineMs: 20_000 }
  const first = stage.start({ ...toTag('v2'), settings })
  await stage.until(() => isIn('restarting')(first))
  stage.world.cluster.killSandbox(NAMESPACE, pod)
  await stage.until(() => first.end !== undefined)
  expect(first.end).toMatchObject({ outcome: 'needsOperator' })
  const { podIP: address } = stage.world.pods()[0]!['status'] as { podIP: string }
  edge.operator.set(pod, { address, admin: 'ready' })
  await say(stage, pod, 'in')
  const release = { ...toTag('v3'), settings }
  const killed = stage.start(release)
  await stage.until(() => isIn('emptying')(killed))
  await stage.pass(300)
  killed.host.kill()
  stage.world.cluster.deletePod(NAMESPACE, pod)
  const next = stage.start(release)
  await stage.until(() => next.end !== undefined)
  expect(edge.state(pod)).toMatchObject({ admin: 'drain', address })
  expect(next.end).toMatchObject({ outcome: 'needsOperator', reason: expect.stringContaining(`was drained for ${pod}`) })
})

const OTHER = 'other-0'

/** Kills a run of two workloads with the pod of the second one drained. The pod is then made again. */
async function killedWithOther(...more: string[]): Promise<Stage> {
  const stage = await openStage(plainScene({ pods: 1, balancers: [plainBalancer({ longestRequestMs: 6_000 })] }))
  for (const name of ['other', ...more]) await addStatefulSet(stage, name)
  const first = stage.start({
    ...toTag('v2'),
    ...of(NAME, 'other'),
    settings: { ...PLAIN_SETTINGS, maxUnavailable: { count: 2 } },
  })
  await stage.until(() => isIn('emptying', OTHER)(first))
  await stage.pass(100)
  first.host.kill()
  stage.world.cluster.deletePod(NAMESPACE, OTHER, { force: true })
  await stage.pass(30_000)
  return stage
}

// A run must not settle pods of a workload whose Lease another run has.
test('two runs go on with parts of one that was killed: what the one has drained is not put back by the other', async () => {
  const stage = await killedWithOther('third')
  const from = stage.history.length
  const own = stage.start({ ...toTag('v3'), ...of('other') })
  const request = { ...toTag('v2'), ...of(NAME, 'third'), settings: { ...PLAIN_SETTINGS, maxUnavailable: { count: 2 } } }
  const beside = stage.start(request, (ports) => {
    const { client, clock } = ports
    const patch: typeof client.patch = async (path, operations, options) => {
      const isRestore = path.includes('/configmaps/') && JSON.stringify(operations).includes('restore')
      if (isRestore) await new Promise<void>((resolve) => void clock.setTimeout(resolve, 2_500))
      return client.patch(path, operations, options)
    }
    const all = { ...request, namespace: NAMESPACE, acceptTemplateDrift: false, allowUnbalanced: false }
    return prepareRun(all, { ...ports, client: { ...client, patch } })
  })
  await stage.until(() => own.end !== undefined && beside.end !== undefined)
  const effects = stage.history.slice(from).filter((entry) => entry.type === 'effect' && JSON.stringify(entry).includes(OTHER))
  expect(new Set(effects.map((entry) => 'by' in entry && entry.by))).toEqual(new Set([own.host.name]))
  expect([own.end, beside.end]).toMatchObject([{ outcome: 'done' }, { outcome: 'done' }])
})

test('a run of one of two workloads does not wait for what has come in the place of the other’s pod: it is named, and theirs to settle', async () => {
  const stage = await killedWithOther()
  const edge = stage.world.balancers.get('edge')!
  const own = stage.start({ ...toTag('v2'), ...of(NAME) })
  await stage.until(() => own.end !== undefined)
  expect(own.end).toMatchObject({
    outcome: 'failed',
    reason: expect.stringMatching(/^not settled: other-0 \(statefulset\/other\): /),
  })
  expect(own.end?.pods).toMatchObject([{ pod: `${NAME}-0`, outcome: 'upgraded' }])
  expect(edge.state(OTHER)).toMatchObject({ admin: 'drain' })
  const rest = stage.start({ ...toTag('v2'), ...of('other') })
  await stage.until(() => rest.end !== undefined)
  expect(rest.end).toMatchObject({ outcome: 'done' })
  expect(edge.state(OTHER)).toMatchObject({ admin: 'ready' })
})

// The IDs of runs are random, so their order does not show the newest run.
test.each([1, 2, 3, 4])(
  'a record that cannot be read is made anew of the newest of two runs that are open (seed %i)',
  async (seed) => {
    const stage = await openStage(plainScene({ pods: 2, seed }))
    const edge = stage.world.balancers.get('edge')!
    const pod = `${NAME}-0`
    const first = stage.start(toTag('v2'))
    await stage.until(() => isIn('done')(first))
    first.host.kill()
    await stage.pass(1_000)
    edge.operator.set(pod, { weight: 50 })
    const killed = stage.start(toTag('v3'))
    await stage.until(() => isIn('restarting', pod)(killed))
    killed.host.kill()
    const [path, value] = [`/api/v1/namespaces/${NAMESPACE}/pods/${pod}`, '{"v":1']
    await stage.ask(stage.client.patch(path, [{ op: 'add', path: '/metadata/annotations/sluice.dev~1journal', value }]))
    await stage.pass(30_000)
    await say(stage, pod, 'out')
    const next = stage.start(toTag('v3'))
    await stage.until(() => next.end !== undefined)
    expect(next.end).toMatchObject({ outcome: 'done' })
    expect(edge.state(pod)).toMatchObject({ admin: 'ready', weight: 50 })
  },
)

// The report of an earlier run to an operator must not concern the drain of a later run.
test('a run has brought a pod home that it had left to a person, and another has drained it since: that needs none', async () => {
  const stage = await openStage(plainScene({ pods: 2, fixedAddresses: false, preStopMs: 20_000, graceSeconds: 60 }))
  const edge = stage.world.balancers.get('edge')!
  const pod = `${NAME}-1`
  const settings = { ...PLAIN_SETTINGS, readyDeadlineMs: 90_000, restartDeadlineMs: 120_000, restoreDeadlineMs: 20_000 }
  const first = stage.start({ ...toTag('v2'), settings })
  await stage.until(() => isIn('restarting', pod)(first))
  stage.world.cluster.killSandbox(NAMESPACE, pod)
  await stage.until(() => first.end !== undefined)
  expect(first.end).toMatchObject({ outcome: 'needsOperator' })
  const { podIP } = stage.world.pods().find(({ metadata }) => metadata.name === pod)!['status'] as { podIP: string }
  edge.operator.set(pod, { address: podIP })
  const second = stage.start({ ...toTag('v2'), settings })
  await stage.until(() => isIn('draining', `${NAME}-0`)(second))
  second.host.kill()
  expect(edge.state(pod)).toMatchObject({ admin: 'ready' })
  const third = stage.start({ ...toTag('v3'), settings })
  await stage.until(() => isIn('restarting', pod)(third))
  third.host.kill()
  await stage.pass(30_000)
  const { workloads } = await stage.ask(
    readStatus({ namespace: NAMESPACE, refs: [] }, { client: stage.client, clock: second.host.clock }),
  )
  const told = workloads.flatMap(({ pods }) => pods).find(({ name }) => name === pod)
  expect([told?.state, told?.needsOperator]).toEqual(['patched', undefined])
  await say(stage, pod, 'out')
})

function templates({ world: { server } }: Stage): Record<string, string> {
  const found = server.store.list('statefulsets.apps', NAMESPACE) as unknown as {
    metadata: { name: string }
    spec: { template: { spec: { containers: { image: string }[] } } }
  }[]
  return Object.fromEntries(found.map(({ metadata, spec }) => [metadata.name, spec.template.spec.containers[0]!.image]))
}

/** Interrupts a run of two workloads after it has changed both templates, and before it changes a pod. */
async function templatesAlone(): Promise<Stage> {
  const stage = await openStage(plainScene({ pods: 1 }))
  await addStatefulSet(stage, 'other')
  const first = stage.start({ ...toTag('v2'), ...of(NAME, 'other') })
  await stage.until(() => first.events.some(({ type }) => type === 'started'))
  first.interrupt()
  await stage.until(() => first.end !== undefined)
  expect(templates(stage)).toEqual({ [NAME]: imageOf('v2'), other: imageOf('v2') })
  return stage
}

const openOf = (stage: Stage, name: string) => stage.ask(readOpenRuns(stage.client, { namespace: NAMESPACE, ...of(name) }))

async function upgrade(stage: Stage, tag: string, ...names: string[]): Promise<Actor> {
  const actor = stage.start({ ...toTag(tag), ...of(...names) })
  await stage.until(() => actor.end !== undefined)
  return actor
}

// The run stays open for its other workload, which an abort must still reach.
test('a run of two workloads is gone on with for one of them: it stays open for the other, and an abort takes that one back alone', async () => {
  const stage = await templatesAlone()
  expect((await upgrade(stage, 'v2', NAME)).end).toMatchObject({ outcome: 'done' })
  const open = await openOf(stage, 'other')
  expect(open.runs).toHaveLength(1)
  await stage.ask(giveOrder(open, { order: 'abort', by: 'ann@desk' }, { client: stage.client, namespace: NAMESPACE }))
  const runs = open.runs.map(({ run }) => run)
  const request = { namespace: NAMESPACE, settings: PLAIN_SETTINGS, open, runs, by: 'ann@desk', seen: new Map() }
  const abort = stage.start({}, (ports) => prepareAbort(request, ports))
  await stage.until(() => abort.end !== undefined)
  expect(abort.end).toMatchObject({ outcome: 'aborted' })
  expect(templates(stage)).toEqual({ [NAME]: imageOf('v2'), other: imageOf('v1') })
  expect((await openOf(stage, 'other')).runs).toEqual([])
})

test('and a run of the other ends it', async () => {
  const stage = await templatesAlone()
  await upgrade(stage, 'v2', NAME)
  expect((await upgrade(stage, 'v3', 'other')).end).toMatchObject({ outcome: 'done' })
  expect([(await openOf(stage, NAME)).runs, (await openOf(stage, 'other')).runs]).toEqual([[], []])
})

test('nor is it open for ever where the other is gone', async () => {
  const stage = await templatesAlone()
  await stage.ask(stage.client.delete(`/apis/apps/v1/namespaces/${NAMESPACE}/statefulsets/other`))
  await stage.pass(30_000)
  await upgrade(stage, 'v2', NAME)
  expect((await openOf(stage, NAME)).runs).toEqual([])
})

// The run that ends first must not report the other run's pod as left.
test('two runs go on with one that was killed, each with one of its workloads, at once: neither tells of the other’s pod', async () => {
  const stage = await openStage(plainScene({ pods: 1 }))
  await addStatefulSet(stage, 'other')
  const first = stage.start({ ...toTag('v2'), ...of(NAME, 'other') })
  await stage.until(() => first.events.some(({ type }) => type === 'started'))
  await stage.pass(50)
  first.host.kill()
  await stage.pass(20_000)
  const own = stage.start({ ...toTag('v2'), ...of(NAME) })
  await stage.pass(1_500)
  const rest = stage.start({ ...toTag('v2'), ...of('other') })
  await stage.until(() => own.end !== undefined && rest.end !== undefined)
  expect([own.end, rest.end]).toMatchObject([{ outcome: 'done' }, { outcome: 'done' }])
})

const TWO_AT_ONCE = { ...PLAIN_SETTINGS, maxUnavailable: { count: 2 } }

async function interrupted(stage: Stage, actor: Actor): Promise<void> {
  actor.interrupt()
  await stage.until(() => actor.end !== undefined)
  expect(actor.end).toMatchObject({ outcome: 'interrupted' })
}

/** Deletes a pod, and waits until its replacement is ready. */
async function replace(stage: Stage, pod: string): Promise<void> {
  const before = new Set(stage.world.pods().map(({ metadata }) => metadata.uid))
  stage.world.cluster.deletePod(NAMESPACE, pod)
  await stage.until(() => stage.world.pods().some((one) => !before.has(one.metadata.uid) && isReady(one)))
}

const effects = ({ history }: Stage): string[] =>
  history.flatMap((entry) => (entry.type === 'effect' ? [`${entry.effect} ${entry.target}`] : []))

/** Kills a process with its first drain intent under way. Returns the function that lets the intent arrive. */
async function killedWithIntent(stage: Stage, pod: string): Promise<() => number> {
  const { world } = stage
  const { arrive } = world
  let late: (() => number) | undefined
  world.arrive = (request, by, leftAt) => {
    if (late || request.method !== 'PATCH' || !request.path.includes(`/pods/${pod}/status`)) return arrive(request, by, leftAt)
    late = () => arrive(request, by, leftAt).status
    return { status: 504, headers: {}, text: '{"kind":"Status","reason":"Timeout"}' }
  }
  const killed = stage.start(toTag('v2'))
  await stage.until(() => late !== undefined)
  killed.host.kill()
  world.arrive = arrive
  return late!
}

// Otherwise the entry stays drained, no run names it, and the last run ends as done.
test('a drain intent comes late, when a process has said that nothing is drained: what the next one drains by it is looked after', async () => {
  const stage = await openStage(plainScene({ pods: 2 }))
  const pod = `${NAME}-1`
  const arriveLate = await killedWithIntent(stage, pod)
  const second = stage.start(toTag('v2'))
  await stage.until(() => second.events.some(({ type }) => type === 'started'))
  await interrupted(stage, second)
  expect(arriveLate()).toBe(200)
  const third = stage.start(toTag('v2'))
  await stage.until(() => isIn('restarting', pod)(third))
  third.host.kill()
  await replace(stage, pod)
  const last = stage.start(toTag('v2'))
  await stage.until(() => last.end !== undefined)
  expect(last.end).toMatchObject({ outcome: 'done' })
  expect(last.end?.pods).toContainEqual(expect.objectContaining({ pod, outcome: 'settled' }))
  expect(stage.world.balancers.get('edge')!.state(pod)).toMatchObject({ admin: 'ready' })
})

/** Replaces a pod, and interrupts its run. Returns the end of the next process, and the state of the pod's entry. */
async function replacedAndInterrupted(pod: string, level: 'G0' | 'G1', admin: 'ready' | 'drain') {
  const stage = await openStage(plainScene({ pods: 3, readyAfterMs: 8_000, balancers: [plainBalancer({ level })] }))
  const edge = stage.world.balancers.get('edge')!
  const first = stage.start(toTag('v2'))
  await stage.until(() => isIn('emptying', `${NAME}-1`)(first))
  const before = new Set(stage.world.pods().map(({ metadata }) => metadata.uid))
  const next = () => stage.world.pods().find(({ metadata }) => !before.has(metadata.uid))
  stage.world.cluster.deletePod(NAMESPACE, pod)
  await stage.until(() => next() !== undefined)
  await interrupted(stage, first)
  await stage.until(() => isReady(next()!))
  edge.operator.set(pod, { admin })
  await stage.pass(20_000)
  const from = effects(stage).length
  const second = stage.start({ ...toTag('v2'), settings: TWO_AT_ONCE })
  await stage.until(() => second.end !== undefined)
  return [second.end?.outcome, edge.state(pod)?.admin, effects(stage).slice(from).includes(`restore ${pod}`)]
}

// A target that an operator has out is not put back as if sluice had drained it. Where it cannot be read, no operator is asked.
test.each([
  { when: 'it waits for its turn', pod: `${NAME}-0` },
  { when: 'it is home', pod: `${NAME}-2` },
])('a pod is replaced while $when, and its run interrupted: the next process knows that nothing was drained', async ({ pod }) => {
  expect(await replacedAndInterrupted(pod, 'G1', 'drain')).toEqual(['done', 'drain', false])
  expect(await replacedAndInterrupted(pod, 'G0', 'ready')).toEqual(['done', 'ready', false])
})

// The entry of the run says that nothing is drained, and the older entry of the killed run must not override it.
test('a run says that nothing is drained for a pod that one before it has open: what an operator has out since stays so', async () => {
  const stage = await openStage(plainScene({ pods: 3, readyAfterMs: 12_000 }))
  const [pod, other] = [`${NAME}-0`, `${NAME}-2`]
  const first = stage.start(toTag('v2'))
  await stage.until(() => isIn('draining', other)(first))
  first.host.kill()
  const second = stage.start(toTag('v3'))
  await stage.until(() => isIn('warming', other)(second))
  await interrupted(stage, second)
  await replace(stage, pod)
  const edge = stage.world.balancers.get('edge')!
  edge.operator.set(pod, { admin: 'drain' })
  const third = stage.start({ ...toTag('v3'), settings: TWO_AT_ONCE })
  await stage.until(() => third.end !== undefined)
  expect(third.end).toMatchObject({ outcome: 'done' })
  expect([edge.state(pod)?.admin, effects(stage).includes(`restore ${pod}`)]).toEqual(['drain', false])
})

// The new pod in its place is not taken for a pod that an operator has out.
test('what was left out for a workload that is deleted, and made again: the next process tells of it', async () => {
  const stage = await openStage(plainScene({ pods: 2, readyAfterMs: 8_000 }))
  const path = `/apis/apps/v1/namespaces/${NAMESPACE}/statefulsets`
  const { metadata, spec } = structuredClone(stage.world.server.store.list('statefulsets.apps', NAMESPACE)[0]!)
  const first = stage.start({ ...toTag('v2'), settings: TWO_AT_ONCE })
  await stage.until(() => isIn('restarting', `${NAME}-0`)(first) && isIn('restarting', `${NAME}-1`)(first))
  await stage.ask(stage.client.delete(`${path}/${NAME}`))
  await stage.until(() => first.events.some(({ type }) => type === 'podFinished'))
  first.host.kill()
  await stage.until(() => stage.world.pods().length === 0)
  const { name, namespace, labels } = metadata
  const again = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name, namespace, labels }, spec }
  await stage.ask(stage.client.create(path, again))
  await stage.until(() => stage.world.pods().filter(isReady).length === 2)
  const second = stage.start({ ...toTag('v2'), settings: TWO_AT_ONCE })
  await stage.until(() => second.end !== undefined)
  expect(second.end).toMatchObject({ outcome: 'needsOperator', reason: expect.stringMatching(/^web-1: .* is out of rotation/) })
})

async function scale({ ask, client }: Stage, replicas: number): Promise<void> {
  const path = `/apis/apps/v1/namespaces/${NAMESPACE}/statefulsets/${NAME}`
  await ask(client.patch(path, [{ op: 'replace', path: '/spec/replicas', value: replicas }]))
}

const isScaledTo = (stage: Stage, replicas: number) => (): boolean =>
  stage.world.pods().length === replicas && stage.world.pods().every(isReady)

async function ended(stage: Stage, tag: string): Promise<Actor> {
  const actor = stage.start({ ...toTag(tag), settings: TWO_AT_ONCE })
  await stage.until(() => actor.end !== undefined)
  return actor
}

/** Kills a run that has left a target out for a workload that was scaled down. Another pod has come since. */
async function leftOutAndUpAgain(level: 'G0' | 'G1' = 'G1', { intends }: { intends?: 'restore' } = {}): Promise<Stage> {
  const stage = await openStage(plainScene({ pods: 3, readyAfterMs: 8_000, balancers: [plainBalancer({ level })] }))
  const first = stage.start({ ...toTag('v2'), settings: TWO_AT_ONCE })
  await stage.until(() => isIn('restarting', `${NAME}-2`)(first))
  await scale(stage, 2)
  await stage.until(() => first.events.some(({ type }) => type === 'podFinished'))
  if (intends !== undefined) await stage.until(() => stage.world.pods().some(({ metadata }) => stepOf(metadata) === intends))
  first.host.kill()
  await scale(stage, 3)
  await stage.until(isScaledTo(stage, 3))
  return stage
}

/** Returns the step in the journal of a pod. */
function stepOf({ annotations }: { annotations?: Record<string, string> }): string | undefined {
  const journal = annotations?.['sluice.dev/journal']
  return journal === undefined ? undefined : (JSON.parse(journal) as { step: string }).step
}

const CAME_ALL_THE_SAME = {
  outcome: 'needsOperator',
  reason: expect.stringMatching(
    /web-2 has come (there )?all the same, and (is out of rotation|whether it is in rotation cannot be known)/,
  ),
}

const isOneOpen = async (stage: Stage): Promise<boolean> => (await openOf(stage, NAME)).runs.length > 0

// Each later run reports the target, not only the first.
test.each(['v2', 'v3'])('what was left out, and is asked for again by another pod, is told by each run (to %s)', async (tag) => {
  const stage = await leftOutAndUpAgain()
  for (const _ of [1, 2, 3]) expect((await ended(stage, tag)).end).toMatchObject(CAME_ALL_THE_SAME)
  // The reports go on until the target is put back.
  stage.world.balancers.get('edge')!.operator.set(`${NAME}-2`, { admin: 'ready' })
  expect((await ended(stage, tag)).end).toMatchObject({ outcome: 'done' })
  expect(await isOneOpen(stage)).toBe(false)
})

test.each([
  { what: 'it is in, where nobody can read that', level: 'G0', tag: 'v2', traffic: 'in', admin: 'ready' },
  { what: 'it is to stay out', level: 'G1', tag: 'v3', traffic: 'out', admin: 'drain' },
  { what: 'it is to stay out, of the run that has left it out', level: 'G1', tag: 'v2', traffic: 'out', admin: 'drain' },
] as const)('or until somebody has said that $what', async ({ level, tag, traffic, admin }) => {
  const stage = await leftOutAndUpAgain(level)
  const edge = stage.world.balancers.get('edge')!
  for (const _ of [1, 2]) {
    const { end } = await ended(stage, tag)
    expect(end).toMatchObject(CAME_ALL_THE_SAME)
    const instructions = expect.stringContaining(`sluice resolve pod/${NAME}-2 -n ${NAMESPACE} --gone --traffic ${traffic}`)
    expect(end?.pods).toContainEqual(expect.objectContaining({ outcome: 'needsOperator', instructions }))
    edge.operator.set(`${NAME}-2`, { admin })
  }
  await stage.pass(30_000)
  await say(stage, `${NAME}-2`, traffic)
  expect((await ended(stage, tag)).end).toMatchObject({ outcome: 'done' })
  expect(edge.state(`${NAME}-2`)).toMatchObject({ admin })
  expect(await isOneOpen(stage)).toBe(false)
})

// The pod was read for its own upgrade, which does not mean that it is in rotation.
test('it is told where nobody can read it, and another pod has kept it from being upgraded itself', async () => {
  const stage = await leftOutAndUpAgain('G0', { intends: 'restore' })
  // The window has room for the pod beside the two half-done pods of the first run.
  const settings = { ...PLAIN_SETTINGS, maxUnavailable: { count: 3 } }
  const run = stage.start({ ...toTag('v3'), settings })
  await stage.until(() => run.end !== undefined)
  const { end } = run
  expect(run.events).toContainEqual(expect.objectContaining({ type: 'podState', pod: `${NAME}-2`, to: 'checking' }))
  expect(end?.pods.find(({ pod }) => pod === `${NAME}-1`)).toMatchObject({ outcome: 'needsOperator' })
  expect(end?.pods.filter(({ pod, outcome }) => pod === `${NAME}-2` && outcome !== 'unchanged')).toMatchObject([
    CAME_ALL_THE_SAME,
  ])
})

test('and it is not where it has been upgraded itself since, of which nothing is to be told', async () => {
  const stage = await leftOutAndUpAgain('G0')
  expect((await ended(stage, 'v3')).end).toMatchObject({ outcome: 'done' })
  expect(stage.world.balancers.get('edge')!.state(`${NAME}-2`)).toMatchObject({ admin: 'ready' })
})

test('an abort asks for it too, and is over once that is said', async () => {
  const stage = await leftOutAndUpAgain()
  const abort = async (): Promise<Actor['end']> => {
    const open = await openOf(stage, NAME)
    await stage.ask(giveOrder(open, { order: 'abort', by: 'ann@desk' }, { client: stage.client, namespace: NAMESPACE }))
    const runs = open.runs.map(({ run }) => run)
    const request = { namespace: NAMESPACE, settings: PLAIN_SETTINGS, open, runs, by: 'ann@desk', seen: new Map() }
    const actor = stage.start({}, (ports) => prepareAbort(request, ports))
    await stage.until(() => actor.end !== undefined)
    return actor.end
  }
  expect(await abort()).toMatchObject(CAME_ALL_THE_SAME)
  expect(await isOneOpen(stage)).toBe(true)
  await say(stage, `${NAME}-2`, 'out')
  expect(await abort()).toMatchObject({ outcome: 'aborted' })
  expect(await isOneOpen(stage)).toBe(false)
})

test('control: the workload is scaled down for good after that: there is nothing to say', async () => {
  const stage = await leftOutAndUpAgain()
  expect((await ended(stage, 'v3')).end).toMatchObject(CAME_ALL_THE_SAME)
  await scale(stage, 2)
  await stage.until(isScaledTo(stage, 2))
  expect((await ended(stage, 'v3')).end).toMatchObject({ outcome: 'done' })
  expect(await isOneOpen(stage)).toBe(false)
})
