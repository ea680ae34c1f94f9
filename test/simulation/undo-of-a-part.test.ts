import { POD } from '../../src/workloads/kinds/pod.ts'
import { expect, test } from 'vitest'
import { podView } from '../../src/pods/view.ts'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { openStage } from './stage.ts'

/* An undo of a run about some pods of a workload gives the template back its former images, where the other pods run them. */

const V1 = imageOf('v1')
const V2 = imageOf('v2')
const toTag = (tag: string) => ({ images: [{ container: 'app', image: imageOf(tag) }] })
const named = (...places: number[]) => ({
  select: { refs: places.map((place) => ({ ...POD, name: `${NAME}-${place}` }) as const) },
})
const FIRST_POD = { select: { labelSelector: `statefulset.kubernetes.io/pod-name=${NAME}-0` } }

async function done(stage: Stage, actor: Actor): Promise<void> {
  await stage.until(() => actor.end !== undefined)
  expect(actor.end).toMatchObject({ outcome: 'done' })
}

function imagesOf({ world }: Stage): { pods: string[]; template: string } {
  const [found] = world.server.store.list('statefulsets.apps', NAMESPACE) as unknown as {
    spec: { template: { spec: { containers: { image: string }[] } } }
  }[]
  const pods = world
    .pods()
    .map(podView)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return {
    pods: pods.map(({ containers }) => containers.at(-1)!.image),
    template: found!.spec.template.spec.containers.at(-1)!.image,
  }
}

// The template must not get the former image of the one pod: replacements of the other pods would run it.
test.each([
  { by: 'by name', request: {} },
  { by: 'by label, which sees that one alone', request: FIRST_POD },
])('of one of two, $by', async ({ request }) => {
  const stage = await openStage(plainScene({ pods: 2, readyAfterMs: 1_000 }))
  await done(stage, stage.start({ ...toTag('v2'), ...named(1) }))
  await done(stage, stage.start({ ...toTag('v3'), ...named(0) }))
  await done(stage, stage.start({ undo: {}, ...request }))
  expect(imagesOf(stage)).toEqual({ pods: [V1, V2], template: V2 })
  // The replacement of the pod during the run is not taken for another pod.
  stage.world.cluster.deletePod(NAMESPACE, `${NAME}-0`)
  await stage.until(() => imagesOf(stage).pods.join() === `${V2},${V2}`)
  await done(stage, stage.start({ undo: {}, ...request, allowUnbalanced: true }))
  expect(imagesOf(stage)).toEqual({ pods: [V1, V2], template: V2 })
})

test.each([
  { by: 'by name', request: {} },
  { by: 'by label', request: FIRST_POD },
])('control: the template alone had others before, which somebody had put there, $by', async ({ request }) => {
  const stage = await openStage(plainScene({ pods: 2, readyAfterMs: 1_000 }))
  await done(stage, stage.start({ ...toTag('v2'), ...named(1) }))
  await done(stage, stage.start({ undo: {} }))
  expect(imagesOf(stage)).toEqual({ pods: [V1, V1], template: V1 })
  const path = `/apis/apps/v1/namespaces/${NAMESPACE}/statefulsets/${NAME}`
  const at = '/spec/template/spec/containers/0/image'
  await stage.ask(stage.client.patch(path, [{ op: 'replace', path: at, value: V2 }]))
  expect(imagesOf(stage).template).toBe(V2)
  await done(stage, stage.start({ ...toTag('v3'), ...named(0) }))
  await done(stage, stage.start({ undo: {}, ...request }))
  expect(imagesOf(stage)).toEqual({ pods: [V1, V1], template: V1 })
})

// The undone run has found the template as it is, so the undo keeps it.
test.each([
  { first: [2], pods: [V1, V1, V2] },
  { first: [0, 1], pods: [V2, V2, V1] },
])('of a run of all after one of $first: the template stays', async ({ first, pods }) => {
  const stage = await openStage(plainScene({ pods: 3, readyAfterMs: 1_000 }))
  await done(stage, stage.start({ ...toTag('v2'), ...named(...first) }))
  await done(stage, stage.start(toTag('v2')))
  await done(stage, stage.start({ undo: {} }))
  expect(imagesOf(stage)).toEqual({ pods, template: V2 })
})
