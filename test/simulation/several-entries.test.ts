import { expect, test } from 'vitest'
import type { KubeObject } from '../../sim/api-server/server.ts'
import { imageOf, NAME, NAMESPACE, PORT } from './manifests.ts'
import { PLAIN_SETTINGS, plainBalancer, plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { openStage } from './stage.ts'

/* Pods with several entries, in one load balancer or in two. One of the entries is sometimes missing. */

const V2 = { images: [{ container: 'app', image: imageOf('v2') }] }
const LAST = `${NAME}-1`

const addressOf = ({ status }: KubeObject): string => (status as { podIP?: string } | undefined)?.podIP ?? ''

const podNamed = ({ world }: Stage, name: string): KubeObject | undefined =>
  world.pods().find(({ metadata }) => metadata.name === name)

const isIn = ({ events }: Actor, pod: string, state: string): boolean =>
  events.some((event) => event.type === 'podState' && event.pod === pod && event.to === state)

const ended = async (stage: Stage, actor: Actor): Promise<Actor['end']> => {
  await stage.until(() => actor.end !== undefined)
  return actor.end
}

/** Records the state of the entries at each patch of the pod: the entries that get requests. */
function watchPatches(stage: Stage, pod: string, entries: readonly string[]): string[][] {
  const edge = stage.world.balancers.get('edge')!
  const patched: string[][] = []
  stage.world.server.store.subscribe((resource, { before, after }) => {
    if (resource !== 'pods' || after?.metadata.name !== pod || before?.metadata.uid !== after.metadata.uid) return
    const [one, other] = [before, after].map((object) => JSON.stringify((object as { spec?: unknown }).spec))
    if (one !== other) patched.push(entries.filter((entry) => edge.state(entry)?.routable))
  })
  return patched
}

/** Opens two pods. The last pod has a second entry, and the list at its check lacks some entries. */
async function oneShortList(allowUnbalanced: boolean, lacks: (entry: string) => boolean) {
  const stage = await openStage(plainScene({ pods: 2, balancers: [plainBalancer({ longestRequestMs: 2_000 })] }))
  const edge = stage.world.balancers.get('edge')!
  const twin = `${LAST}b`
  edge.operator.add({ name: twin, address: addressOf(podNamed(stage, LAST)!), port: PORT })
  const patched = watchPatches(stage, LAST, [LAST, twin])
  const list = edge.list
  const run = stage.start({ ...V2, allowUnbalanced })
  await stage.until(() => isIn(run, LAST, 'checking'))
  let short = 0
  edge.list = () => {
    const answer = list()
    if (!Array.isArray(answer) || short > 0) return answer
    short += 1
    return answer.filter(({ name }) => !lacks(name))
  }
  return { stage, edge, run, twin, patched, shortLists: () => short }
}

// The missing entry sends requests to the pod.
test.each([false, true])('one list at the check lacks an entry that the plan had found; let through: %s', async (unbalanced) => {
  const { stage, edge, run, twin, patched, shortLists } = await oneShortList(unbalanced, (name) => name === `${LAST}b`)
  expect(await ended(stage, run)).toMatchObject({ outcome: 'done' })
  expect([shortLists(), patched]).toEqual([1, [[]]])
  expect([LAST, twin].map((name) => edge.state(name)?.admin)).toEqual(['ready', 'ready'])
})

test('one list at the check lacks every entry, and the pod would be let through', async () => {
  const { stage, run, patched, shortLists } = await oneShortList(true, () => true)
  expect(await ended(stage, run)).toMatchObject({ outcome: 'done' })
  expect([shortLists(), patched]).toEqual([1, [[]]])
})

test('an entry that somebody has removed since the plan is not waited for', async () => {
  const { stage, edge, run, twin, patched } = await oneShortList(false, () => false)
  edge.operator.remove(twin)
  expect(await ended(stage, run)).toMatchObject({ outcome: 'done' })
  expect([patched, edge.state(LAST)?.admin]).toEqual([[[]], 'ready'])
})

/** Drains a pod in two load balancers, and kills its process. The replacement has another address. */
async function replacedWhileDrained() {
  const scene = plainScene({ pods: 2, fixedAddresses: false, balancers: [plainBalancer(), plainBalancer({ name: 'inner' })] })
  const stage = await openStage(scene)
  const [edge, inner] = ['edge', 'inner'].map((name) => stage.world.balancers.get(name)!)
  const first = stage.start(V2)
  await stage.until(() => edge!.state(LAST)!.admin === 'drain' && inner!.state(LAST)!.admin === 'drain')
  first.host.kill()
  const { uid } = podNamed(stage, LAST)!.metadata
  stage.world.cluster.deletePod(NAMESPACE, LAST, { force: true })
  const heir = (): KubeObject | undefined => podNamed(stage, LAST)
  await stage.until(() => heir() !== undefined && heir()!.metadata.uid !== uid && addressOf(heir()!) !== '')
  return { stage, edge: edge!, inner: inner!, address: addressOf(heir()!) }
}

// The edge entry must not stay drained for a healthy pod.
test('one entry is pointed at the pod in its place, and the other made anew', async () => {
  const { stage, edge, inner, address } = await replacedWhileDrained()
  expect(await ended(stage, stage.start(V2))).toMatchObject({ outcome: 'needsOperator' })
  edge.operator.set(LAST, { address })
  inner.operator.remove(LAST)
  inner.operator.add({ name: `${LAST}x`, address, port: PORT })
  expect(await ended(stage, stage.start(V2))).toMatchObject({ outcome: 'done' })
  expect([edge.state(LAST), inner.state(`${LAST}x`)]).toMatchObject([{ admin: 'ready' }, { admin: 'ready' }])
})

test('what somebody has drained himself in place of the other is not touched, and a person is asked', async () => {
  const { stage, edge, inner, address } = await replacedWhileDrained()
  edge.operator.set(LAST, { address })
  inner.operator.remove(LAST)
  inner.operator.add({ name: `${LAST}x`, address, port: PORT })
  inner.operator.set(`${LAST}x`, { admin: 'drain' })
  const second = await ended(stage, stage.start({ ...V2, settings: { ...PLAIN_SETTINGS, maxUnavailable: { count: 2 } } }))
  expect(second).toMatchObject({ outcome: 'needsOperator' })
  expect([edge.state(LAST), inner.state(`${LAST}x`)]).toMatchObject([{ admin: 'drain' }, { admin: 'drain' }])
})

test('a list that lacks the other entry at every first look does not drop it: it is named until it is pointed there too', async () => {
  const { stage, edge, inner, address } = await replacedWhileDrained()
  edge.operator.set(LAST, { address })
  const { read } = inner
  let isShort = false
  inner.read = (names) => {
    isShort = names.includes(LAST) && !isShort
    return read(isShort ? [] : names)
  }
  expect(await ended(stage, stage.start(V2))).toMatchObject({ outcome: 'needsOperator' })
  expect([edge.state(LAST), inner.state(LAST)]).toMatchObject([{ admin: 'drain' }, { admin: 'drain' }])
  inner.read = read
  inner.operator.set(LAST, { address })
  expect(await ended(stage, stage.start(V2))).toMatchObject({ outcome: 'done' })
  expect([edge.state(LAST), inner.state(LAST)]).toMatchObject([{ admin: 'ready' }, { admin: 'ready' }])
})

test('one entry is pointed at the pod in its place, and the other removed: nothing is missed of that', async () => {
  const { stage, edge, inner, address } = await replacedWhileDrained()
  edge.operator.set(LAST, { address })
  inner.operator.remove(LAST)
  const run = stage.start({ ...V2, allowUnbalanced: true })
  expect(await ended(stage, run)).toMatchObject({ outcome: 'done' })
  expect(edge.state(LAST)).toMatchObject({ admin: 'ready' })
})

/** Drains a pod in both load balancers, patched or not. Its sandbox dies, and the pod comes back at another address. */
async function movedWhileDrained(state: 'emptying' | 'restarting') {
  const balancers = [plainBalancer(), plainBalancer({ name: 'inner', longestRequestMs: 2_000 })]
  const stage = await openStage(plainScene({ pods: 2, fixedAddresses: false, balancers }))
  const [edge, inner] = ['edge', 'inner'].map((name) => stage.world.balancers.get(name)!)
  const first = stage.start(V2)
  await stage.until(() => isIn(first, LAST, state))
  first.host.kill()
  const before = addressOf(podNamed(stage, LAST)!)
  stage.world.cluster.killSandbox(NAMESPACE, LAST)
  await stage.until(() => ![before, ''].includes(addressOf(podNamed(stage, LAST)!)))
  return { stage, edge: edge!, inner: inner!, address: addressOf(podNamed(stage, LAST)!) }
}

test.each(['emptying', 'restarting'] as const)(
  'the pod itself has moved while %s: the same of what is removed',
  async (state) => {
    const { stage, edge, inner, address } = await movedWhileDrained(state)
    edge.operator.set(LAST, { address })
    inner.operator.remove(LAST)
    expect(await ended(stage, stage.start({ ...V2, allowUnbalanced: true }))).toMatchObject({ outcome: 'done' })
    expect(edge.state(LAST)).toMatchObject({ admin: 'ready' })
  },
)

test('the pod itself has moved before its patch, and has an entry that was not drained: it is not patched in that', async () => {
  const { stage, edge, inner, address } = await movedWhileDrained('emptying')
  edge.operator.set(LAST, { address })
  inner.operator.remove(LAST)
  const twin = `${LAST}x`
  const run = stage.start({ ...V2, allowUnbalanced: true })
  await stage.until(() => run.events.some(({ type }) => type === 'planned' || type === 'podState'))
  inner.operator.add({ name: twin, address, port: PORT })
  const { images } = V2
  expect(await ended(stage, run)).toMatchObject({ outcome: 'needsOperator' })
  const { spec } = podNamed(stage, LAST)! as { spec?: { containers: { image: string }[] } }
  expect(spec!.containers[0]!.image).not.toBe(images[0]!.image)
})
