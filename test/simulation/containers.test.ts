import { idNamed } from '../../src/workloads/kinds/testing/id-named.ts'
import { STATEFUL_SET } from '../../src/workloads/kinds/stateful-set.ts'
import { reasonWords } from '../../src/report/words/words.ts'
import { describe, expect, test } from 'vitest'
import { giveOrder } from '../../src/engine/orders/give-order.ts'
import { readOpenRuns } from '../../src/engine/orders/open-runs.ts'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { PLAIN_SETTINGS, plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { openStage } from './stage.ts'

/* Pods of several containers: runs about different containers, with their plans and interrupts. */

const PROXY_V2 = 'registry.example/proxy:v2'
const app = (tag: string) => ({ container: 'app', image: imageOf(tag) })
const proxy = { container: 'proxy', image: PROXY_V2 }
const settings = { ...PLAIN_SETTINGS, restartDeadlineMs: 20_000, readyDeadlineMs: 20_000 }
const ROLLS_BACK = { settings: { ...settings, onFailure: 'rollback' as const } }

type Specs = { containers: { name: string; image: string }[] }
const imagesIn = ({ containers }: Specs): Record<string, string> =>
  Object.fromEntries(containers.map(({ name, image }) => [name, image]))
const podImages = ({ world }: Stage) => world.pods().map((pod) => imagesIn(pod['spec'] as Specs))

function templateImages({ world: { server } }: Stage): Record<string, string>[] {
  return server.store
    .list('statefulsets.apps', NAMESPACE)
    .map((found) => imagesIn((found as unknown as { spec: { template: { spec: Specs } } }).spec.template.spec))
}

async function ended(stage: Stage, actor: Actor): Promise<Actor['end']> {
  await stage.until(() => actor.end !== undefined)
  return actor.end
}

type Workload = 'StatefulSet' | 'Pod'
const selectOf = (workload: Workload) => ({
  select: { refs: [idNamed(workload, workload === 'Pod' ? `${NAME}-0` : NAME)] },
})

// The former image of one container and the new image of another have never run together.
test.each(['StatefulSet', 'Pod'] as const)(
  'a pod that an earlier run has left half done goes back for all of its containers: %s',
  async (workload) => {
    const stage = await openStage(plainScene({ sidecar: true, workload }))
    stage.world.cluster.setImage(PROXY_V2, { digest: 'sha256:proxy-v2', readyAfterMs: 0 })
    const [before, template] = [podImages(stage), templateImages(stage)]
    const first = stage.start({ ...selectOf(workload), images: [app('crash'), proxy], settings })
    expect(await ended(stage, first)).toMatchObject({ outcome: 'failed', pods: [{ out: true }] })
    const second = stage.start({ ...selectOf(workload), images: [app('bad')], ...ROLLS_BACK })
    expect(await ended(stage, second)).toMatchObject({ outcome: 'rolledBack', pods: [{ out: false }] })
    expect([podImages(stage), templateImages(stage)]).toEqual([before, template])
    expect(stage.world.balancers.get('edge')!.state(`${NAME}-0`)!.admin).toBe('ready')
  },
)

test('so does an undo of the run that has brought it home', async () => {
  const stage = await openStage(plainScene({ sidecar: true }))
  stage.world.cluster.setImage(PROXY_V2, { digest: 'sha256:proxy-v2', readyAfterMs: 0 })
  const [before, template] = [podImages(stage), templateImages(stage)]
  await ended(stage, stage.start({ images: [app('crash'), proxy], settings }))
  expect(await ended(stage, stage.start({ images: [app('v2')], settings }))).toMatchObject({ outcome: 'done' })
  expect(await ended(stage, stage.start({ undo: {}, settings }))).toMatchObject({ outcome: 'done' })
  expect([podImages(stage), templateImages(stage)]).toEqual([before, template])
})

// The template keeps the image of a container for which the pods had different images.
test('the template keeps what another pod was upgraded to before', async () => {
  const stage = await openStage(plainScene({ sidecar: true, pods: 2 }))
  stage.world.cluster.setImage(PROXY_V2, { digest: 'sha256:proxy-v2', readyAfterMs: 0 })
  const first = stage.start({ images: [app('v2'), proxy], settings })
  const isIn = (state: string, pod: string) =>
    first.events.some((event) => event.type === 'podState' && event.to === state && event.pod === pod)
  await stage.until(() => isIn('restarting', `${NAME}-0`))
  first.host.kill()
  expect(await ended(stage, stage.start({ images: [app('v3')], settings }))).toMatchObject({ outcome: 'done' })
  expect(await ended(stage, stage.start({ undo: {}, settings }))).toMatchObject({ outcome: 'done' })
  expect(templateImages(stage)).toEqual([{ app: imageOf('v2'), proxy: PROXY_V2 }])
  expect(podImages(stage)).toContainEqual({ app: imageOf('v2'), proxy: PROXY_V2 })
})

describe('interrupted where a pod was rolled back', () => {
  const isIn =
    (state: string) =>
    ({ events }: Actor): boolean =>
      events.some((event) => event.type === 'podState' && event.to === state)
  const start = (stage: Stage): Actor => stage.start({ images: [app('bad')], ...ROLLS_BACK })

  // A SIGTERM is often followed by a SIGKILL, so the process does not wait for the template.
  test.each([
    ['before its template goes back', 'closing'],
    ['while that goes back', 'done'],
  ])('%s, and the API server is down: over within four seconds', async (_, state) => {
    const stage = await openStage(plainScene())
    const actor = start(stage)
    await stage.until(() => isIn(state)(actor))
    if (state === 'closing') actor.interrupt()
    await stage.until(() => isIn('done')(actor))
    stage.stopApiServer(300_000)
    if (state === 'done') actor.interrupt()
    await ended(stage, actor)
    const [done, finished] = [
      actor.events.find((event) => event.type === 'podState' && event.to === 'done'),
      actor.events.find((event) => event.type === 'finished'),
    ]
    expect(finished!.atMs - done!.atMs).toBeLessThanOrEqual(4_100)
  })

  test('control: it goes back where the API server answers', async () => {
    const stage = await openStage(plainScene())
    const template = templateImages(stage)
    const actor = start(stage)
    await stage.until(() => isIn('closing')(actor))
    expect(templateImages(stage)).not.toEqual(template)
    actor.interrupt()
    await ended(stage, actor)
    expect(templateImages(stage)).toEqual(template)
  })
})

// The plan names the order that the upgrade would meet.
test.each([
  { order: 'abort', says: 'is being aborted (by ann@desk): this upgrade goes on with it, ends it' },
  { order: 'pause', says: 'is paused (by ann@desk): this upgrade goes on with it, and waits until sluice resume' },
] as const)('a plan says that there is an order of the run that it would go on with: $order', async ({ order, says }) => {
  const stage = await openStage(plainScene({ pods: 2 }))
  const { client } = stage
  const first = stage.start({ images: [app('v2')] })
  await stage.until(() => first.events.some((event) => event.type === 'podState' && event.to === 'restarting'))
  first.host.kill()
  const select = { refs: [{ ...STATEFUL_SET, name: NAME } as const] }
  const open = await stage.ask(readOpenRuns(client, { namespace: NAMESPACE, select }))
  const warningsOf = async (): Promise<readonly string[]> => {
    const actor = stage.start({ images: [app('v2')] })
    await stage.until(() => actor.events.some(({ type }) => type === 'planned'))
    actor.host.kill()
    return actor.events.find((event) => event.type === 'planned')!.plan.warnings.map((one) => reasonWords(one))
  }
  expect(await warningsOf(), 'control: none was given').toEqual([])
  await stage.ask(giveOrder(open, { order, by: 'ann@desk' }, { client, namespace: NAMESPACE }))
  expect(await warningsOf()).toEqual([expect.stringContaining(says)])
})
