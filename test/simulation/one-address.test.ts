import { DEPLOYMENT } from '../../src/workloads/kinds/deployment.ts'
import { expect, test } from 'vitest'
import type { KubeObject } from '../../sim/api-server/server.ts'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { PLAIN_SETTINGS, plainBalancer, plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { openStage } from './stage.ts'

/* Several pods have one address, and so one entry, one after another in one run, which may have several processes. */

const request = (tag: string, count = 1) => ({
  images: [{ container: 'app', image: imageOf(tag) }],
  select: { refs: [{ ...DEPLOYMENT, name: NAME } as const] },
  acceptTemplateDrift: true,
  settings: { ...PLAIN_SETTINGS, maxUnavailable: { count } },
})

const addressOf = ({ status }: KubeObject): string | undefined => (status as { podIP?: string } | undefined)?.podIP

const podsIn = ({ events }: Actor, state: string): string[] =>
  events.flatMap((event) => (event.type === 'podState' && event.to === state ? [event.pod] : []))

/** Replaces a pod twice. The first replacement has another address, and the second gets the free one. */
async function replace(stage: Stage, name: string): Promise<string> {
  const { world } = stage
  const address = addressOf(world.pods().find(({ metadata }) => metadata.name === name)!)
  const known = new Set(world.pods().map(({ metadata }) => metadata.name))
  async function replaced(one: string): Promise<KubeObject> {
    world.cluster.deletePod(NAMESPACE, one, { force: true })
    const next = () => world.pods().find((pod) => !known.has(pod.metadata.name) && addressOf(pod) !== undefined)
    await stage.until(() => next() !== undefined)
    const found = next()!
    known.add(found.metadata.name)
    return found
  }
  const { metadata } = await replaced(name)
  await stage.pass(7_000)
  const last = await replaced(metadata.name)
  expect(addressOf(last)).toBe(address)
  return last.metadata.name
}

/** Of three pods, a waiting pod goes away. Its successor at the address is upgraded by a process that ends afterwards. */
async function twoHadIt() {
  const stage = await openStage(plainScene({ workload: 'Deployment', pods: 3 }))
  const first = stage.start(request('v2'))
  await stage.until(() => podsIn(first, 'emptying').length > 0)
  const gone = podsIn(first, 'queued').find((name) => !podsIn(first, 'emptying').includes(name))!
  const heir = await replace(stage, gone)
  await stage.until(() => podsIn(first, 'done').includes(heir))
  first.host.kill()
  const edge = stage.world.balancers.get('edge')!
  return { stage, edge, heir, entry: edge.names().find((name) => name === gone)! }
}

test('an operator has the entry by now: it is his, and nothing is missed of the one that was there first', async () => {
  const { stage, edge, heir, entry } = await twoHadIt()
  edge.operator.set(entry, { admin: 'maint' })
  const effects = () => stage.history.filter(({ type }) => type === 'effect').length
  const before = effects()
  const other = stage.start(request('v3'))
  await stage.until(() => other.end !== undefined)
  const reason = expect.stringContaining(`pod/${heir}: out of rotation by an operator`)
  expect([other.end, effects()]).toMatchObject([{ outcome: 'refused', reason }, before])
  const second = stage.start(request('v2', 2))
  await stage.until(() => second.end !== undefined)
  expect(second.end).toMatchObject({ outcome: 'done' })
  expect(edge.state(entry)).toMatchObject({ admin: 'maint' })
})

test('the third one is drained by the process that goes on, and goes too: the entry is put back for the fourth', async () => {
  const { stage, edge, heir, entry } = await twoHadIt()
  const third = await replace(stage, heir)
  const second = stage.start(request('v2'))
  await stage.until(() => podsIn(second, 'emptying').includes(third))
  second.host.kill()
  await replace(stage, third)
  expect(edge.state(entry)).toMatchObject({ admin: 'drain' })
  const last = stage.start(request('v2'))
  await stage.until(() => last.end !== undefined)
  expect(last.end).toMatchObject({ outcome: 'done' })
  expect(edge.state(entry)).toMatchObject({ admin: 'ready' })
})

// A pod in the place of a pod that an operator had out counts in the window.
test('a pod in the place of one that an operator had out takes its place in the window, and the run goes on to its end', async () => {
  const stage = await openStage(plainScene({ pods: 4, balancers: [plainBalancer({ maintained: [3] })] }))
  const edge = stage.world.balancers.get('edge')!
  const inMaintenance = (): string[] => edge.names().filter((name) => edge.state(name)!.admin === 'maint')
  const [held = ''] = inMaintenance()
  const { images, settings } = request('v2', 2)
  const run = stage.start({ images, settings })
  await stage.until(() => podsIn(run, 'restarting').includes(held))
  stage.world.cluster.deletePod(NAMESPACE, held)
  let most = 0
  await stage.until(() => {
    most = Math.max(most, edge.names().filter((name) => edge.state(name)!.admin !== 'ready').length)
    return run.end !== undefined
  })
  expect([run.end?.outcome, most, inMaintenance()]).toEqual(['done', 2, [held]])
})
