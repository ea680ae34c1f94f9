import { POD } from '../../src/workloads/kinds/pod.ts'
import { STATEFUL_SET } from '../../src/workloads/kinds/stateful-set.ts'
import { describe, expect, test } from 'vitest'
import type { Refusal } from '../../src/plan/plan.ts'
import { asksFor } from '../../src/pods/baseline.ts'
import { podView } from '../../src/pods/view.ts'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import type { Scene } from './scene.ts'
import { PLAIN_SETTINGS, plainBalancer, plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { isIn, openStage } from './stage.ts'
import { ended } from './story.ts'

/*
 * A drained pod goes away. Its replacement lacks the label by which the run selects pods, since the label was set by hand. The replacement
 * is only put back. Where no pod has the label any more, the remaining targets are named.
 */

const V2 = { images: [{ container: 'app', image: imageOf('v2') }] }
const BY_LABEL = { labelSelector: 'part=one' }
const pod = (place: number): string => `${NAME}-${place}`
const byName = (place: number) => ({ refs: [{ ...POD, name: pod(place) } as const] })

/** Opens a stage whose pods have long requests. One pod has the label. */
async function openLabelled(labelled: number, change: Partial<Scene> = {}): Promise<Stage> {
  const stage = await openStage(plainScene({ pods: 2, balancers: [plainBalancer({ longestRequestMs: 6_000 })], ...change }))
  const path = `/api/v1/namespaces/${NAMESPACE}/pods/${pod(labelled)}`
  await stage.ask(stage.client.patch(path, [{ op: 'add', path: '/metadata/labels/part', value: 'one' }]))
  return stage
}

/** Runs until that pod is drained. */
async function drained(stage: Stage, place: number, run: Actor): Promise<Actor> {
  await stage.until(() => isIn('emptying', pod(place))(run))
  await stage.pass(300)
  return run
}

/** Drains the pod, kills the process, and deletes the pod. */
async function killed(stage: Stage, place: number, run: Actor): Promise<void> {
  ;(await drained(stage, place, run)).host.kill()
  stage.world.cluster.deletePod(NAMESPACE, pod(place))
  await stage.pass(30_000)
  expect(admin(stage, place)).toBe('drain')
}

const admin = ({ world }: Stage, place: number): unknown => world.balancers.get('edge')!.state(pod(place))?.admin

const found = ({ world }: Stage, place: number) => podView(world.pods().find(({ metadata }) => metadata.name === pod(place)))

/** Reports whether the replacement was neither drained nor patched. */
function isLeftAlone(stage: Stage, place: number): boolean {
  const { annotation, condition } = found(stage, place).journal
  return annotation === undefined && condition === undefined
}

function refusals({ events }: Actor): readonly Refusal[] {
  return events.flatMap((event) => (event.type === 'planned' ? event.plan.refusals : []))
}

// The run does not wait for the deadline of a pod that is ready at the address.
test('the run puts back what it has drained itself', async () => {
  const stage = await openLabelled(1)
  const run = await drained(stage, 1, stage.start({ ...V2, select: BY_LABEL }))
  stage.world.cluster.deletePod(NAMESPACE, pod(1))
  expect(await ended(stage, run)).toMatchObject({
    outcome: 'done',
    pods: [{ pod: pod(1), outcome: 'settled', reason: 'replaced by web-1, which is back in rotation in its place' }],
  })
  expect([admin(stage, 1), isLeftAlone(stage, 1)]).toEqual(['ready', true])
})

test('control: not for one that is not ready', async () => {
  const stage = await openLabelled(1)
  const settings = { ...PLAIN_SETTINGS, readyDeadlineMs: 20_000 }
  const images = [{ container: 'app', image: imageOf('crash') }]
  const run = await drained(stage, 1, stage.start({ images, settings, select: BY_LABEL }))
  stage.world.cluster.deletePod(NAMESPACE, pod(1))
  expect(await ended(stage, run)).toMatchObject({
    outcome: 'needsOperator',
    reason: expect.stringContaining('no ready pod of the same controller has come to its address in time'),
  })
  expect([admin(stage, 1), asksFor(found(stage, 1), images)]).toEqual(['drain', true])
})

test.each([
  { by: 'label', select: BY_LABEL },
  { by: 'name, as a control', select: byName(0) },
])('a run of a part puts back what one of all had drained: by $by', async ({ select }) => {
  const stage = await openLabelled(0, { pods: 3 })
  await killed(stage, 2, stage.start(V2))
  expect(await ended(stage, stage.start({ ...V2, select }))).toMatchObject({
    outcome: 'done',
    reason: expect.stringMatching(/^1 upgraded, .* stays open for web-1: /),
  })
  expect([admin(stage, 2), isLeftAlone(stage, 2)]).toEqual(['ready', true])
})

test('a bare pod that somebody makes anew without the label', async () => {
  const stage = await openLabelled(1, { workload: 'Pod' })
  const run = await drained(stage, 1, stage.start({ ...V2, select: BY_LABEL }))
  const { metadata, spec } = stage.world.pods().find((one) => one.metadata.name === pod(1))!
  const { part: _, ...labels } = metadata.labels!
  stage.world.cluster.deletePod(NAMESPACE, pod(1))
  await stage.until(() => stage.world.pods().length === 1)
  const copy = { apiVersion: 'v1', kind: 'Pod', metadata: { name: pod(1), namespace: NAMESPACE, labels }, spec }
  stage.world.server.store.create('pods', copy, 'operator')
  expect(await ended(stage, run)).toMatchObject({ outcome: 'done' })
  expect([admin(stage, 1), isLeftAlone(stage, 1)]).toEqual(['ready', true])
})

describe('no pod has the label any more', () => {
  // `no pods match` alone would leave the replacement out.
  test.each([
    { by: 'the workload', select: { refs: [{ ...STATEFUL_SET, name: NAME } as const] }, upgraded: 1 },
    { by: 'the pod in its place', select: byName(1), upgraded: 0 },
  ])('what is left is named, and a command that names $by goes on with it', async ({ select, upgraded }) => {
    const stage = await openLabelled(1)
    await killed(stage, 1, stage.start({ ...V2, select: BY_LABEL }))
    const again = stage.start({ ...V2, select: BY_LABEL })
    expect((await ended(stage, again)).outcome).toBe('refused')
    expect(refusals(again)).toEqual([
      expect.objectContaining({ code: 'no-pods' }),
      {
        code: 'left-open',
        run: expect.stringMatching(/^\w+$/),
        pod: 'web-1',
        standing: 'pod-gone',
        traffic: { code: 'entries-read', entries: [expect.objectContaining({ loadBalancer: 'edge', admin: 'draining' })] },
        workloads: ['statefulset/web'],
      },
    ])
    const named = await ended(stage, stage.start({ ...V2, select }))
    expect(named).toMatchObject({ outcome: 'done', reason: expect.stringMatching(new RegExp(`^${upgraded} upgraded, `)) })
    expect(admin(stage, 1)).toBe('ready')
  })

  test('an undo says the same', async () => {
    const stage = await openLabelled(1)
    await killed(stage, 1, stage.start({ ...V2, select: BY_LABEL }))
    const undo = stage.start({ undo: {}, select: BY_LABEL })
    expect((await ended(stage, undo)).reason).toMatch(/^no pods match; run \w+ has left pod\/web-1 drained, /)
  })

  test('of a bare pod, with the command for one that is gone for good', async () => {
    const stage = await openLabelled(1, { workload: 'Pod' })
    await killed(stage, 1, stage.start({ ...V2, select: BY_LABEL }))
    const again = stage.start({ ...V2, select: BY_LABEL })
    await ended(stage, again)
    expect(refusals(again)[1]).toMatchObject({
      code: 'left-open',
      pod: 'web-1',
      standing: 'pod-gone',
      workloads: ['pod/web-1'],
      resolve: { command: 'resolve', pod: 'web-1', namespace: NAMESPACE, gone: true, traffic: 'in' },
    })
  })

  test('where its load balancer does not answer, what may be left', async () => {
    const stage = await openLabelled(1)
    await killed(stage, 1, stage.start({ ...V2, select: BY_LABEL }))
    stage.stopBalancer('edge', 60_000)
    const again = stage.start({ ...V2, select: BY_LABEL })
    expect((await ended(stage, again)).reason).toContain(' may have left pod/web-1 drained, ')
  })

  test('control: of a pod that is there, or back in rotation by hand, nothing is said', async () => {
    const stage = await openLabelled(1)
    await killed(stage, 1, stage.start({ ...V2, select: BY_LABEL }))
    stage.world.balancers.get('edge')!.operator.set(pod(1), { admin: 'ready' })
    const other = await drained(stage, 0, stage.start({ images: [{ container: 'app', image: imageOf('v3') }] }))
    other.host.kill()
    expect([admin(stage, 0), admin(stage, 1)]).toEqual(['drain', 'ready'])
    expect(await ended(stage, stage.start({ ...V2, select: BY_LABEL }))).toMatchObject({ reason: 'no pods match' })
  })
})
