import { reasonWords } from '../../src/report/words/words.ts'
import { expect, test } from 'vitest'
import { imageOf } from './manifests.ts'
import { PLAIN_SETTINGS, plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { openStage } from './stage.ts'
import { ended } from './story.ts'

/*
 * A node does not report for some time. Its pod stays in rotation and waits for the node. The other pods continue, as far as the window
 * allows.
 */

const V2 = { images: [{ container: 'app', image: imageOf('v2') }] }
/** The pods of a DaemonSet, each on a node of its own. */
const scene = plainScene({ workload: 'DaemonSet', pods: 3 })
const settings = { ...PLAIN_SETTINGS, maxUnavailable: { count: 2 } }

interface SilentNode {
  stage: Stage
  node: string
  pod: string
}

async function silence(): Promise<SilentNode> {
  const stage = await openStage(scene)
  const node = stage.world.cluster.nodes[2]!
  stage.world.cluster.stopKubelet(node)
  await stage.pass(60_000)
  const own = stage.world.pods().find(({ spec }) => (spec as { nodeName?: string }).nodeName === node)!
  return { stage, node, pod: own.metadata.name }
}

const drainedOf = ({ events }: Actor, pod: string): boolean =>
  events.some((event) => event.type === 'podState' && event.pod === pod && event.to === 'draining')

function waitedFor({ events }: Actor): string[] {
  return events.flatMap((event) => (event.type === 'podDetail' ? [reasonWords(event.waiting)] : []))
}

test('it is planned last, with its node', async () => {
  const { stage, node, pod } = await silence()
  const run = stage.start({ ...V2, settings: { ...settings, readyDeadlineMs: 5_000 } })
  await ended(stage, run)
  const plan = run.events.flatMap((event) => (event.type === 'planned' ? [event.plan] : []))[0]!
  expect(plan.pods.at(-1)).toMatchObject({
    name: pod,
    action: 'upgrade',
    reason: { code: 'to-upgrade', standing: { code: 'node-silent', node }, waitsForNode: true },
  })
})

test('the others are upgraded, and it stays in rotation, untouched; the run says which node', async () => {
  const { stage, node, pod } = await silence()
  const run = stage.start({ ...V2, settings })
  const end = await ended(stage, run)
  expect(end).toMatchObject({ outcome: 'deadline', reason: expect.stringContaining(`node ${node} does not report`) })
  expect(end.pods?.map(({ pod: name, outcome }) => [name, outcome]).toSorted()).toEqual(
    stage.world
      .pods()
      .map(({ metadata: { name } }) => [name, name === pod ? 'unchanged' : 'upgraded'])
      .toSorted(),
  )
  expect([drainedOf(run, pod), stage.world.balancers.get('edge')!.state(pod)?.admin]).toEqual([false, 'ready'])
})

test('once the node reports again its pod is upgraded too', async () => {
  const { stage, node, pod } = await silence()
  const run = stage.start({ ...V2, settings })
  await stage.until(() => waitedFor(run).some((text) => text.includes(`node ${node} does not report`)))
  stage.world.cluster.continueKubelet(node)
  expect(await ended(stage, run)).toMatchObject({ outcome: 'done' })
  expect(drainedOf(run, pod)).toBe(true)
})

test('a node that ceases to report at the patch is told with the restart', async () => {
  const stage = await openStage(plainScene({ pods: 1 }))
  const run = stage.start(V2)
  await stage.until(() => run.events.some((event) => event.type === 'podState' && event.to === 'emptying'))
  const node = stage.world.cluster.nodes[0]!
  stage.world.cluster.stopKubelet(node)
  expect(await ended(stage, run)).toMatchObject({
    outcome: 'failed',
    pods: [
      {
        reason: expect.stringMatching(
          new RegExp(`kubelet of node ${node} has not seen the patch .*node ${node} does not report`),
        ),
      },
    ],
  })
})
