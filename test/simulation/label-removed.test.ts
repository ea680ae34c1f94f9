import { reasonWords } from '../../src/report/words/words.ts'
import { expect, test } from 'vitest'
import { podView } from '../../src/pods/view.ts'
import { asksFor } from '../../src/pods/baseline.ts'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { plainBalancer, plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { isIn, isReady, openStage } from './stage.ts'

/* An operator removes the label of a pod during a run that selects by it. For the watch, the pod looks like a pod that is gone. */

const V2 = { images: [{ container: 'app', image: imageOf('v2') }] }
const FIRST = `${NAME}-1`

const pathOf = (pod: string): string => `/api/v1/namespaces/${NAMESPACE}/pods/${pod}`

const warnings = ({ events }: Actor): string[] =>
  events.flatMap((event) => (event.type === 'warning' ? [reasonWords(event.reason)] : []))

const podOf = ({ world }: Stage, name: string) =>
  world.server.store.list('pods', NAMESPACE).find(({ metadata }) => metadata.name === name) as unknown as Record<string, unknown>

/** Opens two pods with a label of their own, in a load balancer that forgets at a reload, and starts an upgrade by that label. */
async function upgradeByLabel(): Promise<{
  stage: Stage
  run: Actor
  unlabel(pod?: string): Promise<unknown>
  label(): Promise<unknown>
}> {
  const stage = await openStage(
    plainScene({ pods: 2, readyAfterMs: 5_000, balancers: [plainBalancer({ volatile: true, longestRequestMs: 2_000 })] }),
  )
  const { client, ask } = stage
  const change = (pod: string, op: 'add' | 'remove') =>
    ask(client.patch(pathOf(pod), [{ op, path: '/metadata/labels/part', ...(op === 'add' ? { value: 'one' } : {}) } as never]))
  for (const pod of [FIRST, `${NAME}-0`]) await change(pod, 'add')
  const run = stage.start({ ...V2, select: { labelSelector: 'part=one' } })
  return { stage, run, unlabel: (pod = FIRST) => change(pod, 'remove'), label: () => change(FIRST, 'add') }
}

async function endOf(stage: Stage, actor: Actor): Promise<Actor['end']> {
  await stage.until(() => actor.end !== undefined)
  return actor.end
}

// Without a second drain, the pod would get requests during its restart.
test('while it restarts, and the load balancer forgets its drain: it is drained again, and comes home', async () => {
  const { stage, run, unlabel } = await upgradeByLabel()
  await stage.until(() => isIn('restarting', FIRST)(run))
  await unlabel()
  await stage.pass(500)
  const edge = stage.world.balancers.get('edge')!
  stage.world.reload('edge')
  expect(edge.state(FIRST)?.routable).toBe(true)
  await stage.until(() => edge.state(FIRST)?.routable === false)
  // Ready may still belong to the old container: the new container is not up.
  const { containers } = podView(podOf(stage, FIRST))
  expect(isIn('restarting', FIRST)(run)).toBe(true)
  expect(containers.some(({ statusImage, ready }) => ready && statusImage === imageOf('v2'))).toBe(false)
  expect(await endOf(stage, run)).toMatchObject({ outcome: 'done', reason: expect.stringMatching(/^2 upgraded/) })
  const after = podView(podOf(stage, FIRST)).containers
  expect(
    after.some(({ statusImage, ready }) => ready && statusImage === imageOf('v2')),
    'control',
  ).toBe(true)
  expect(warnings(run)).toContain(`${FIRST} is no longer selected: the run goes on with it for as long as it is its workload's`)
})

// The run neither asks an operator about the pod, nor waits for a pod that the workload does not lack.
test.each(['queued', 'draining', 'emptying', 'restarting', 'warming', 'restoring', 'verifying', 'done'] as const)(
  'while it is in %s: the run is done with both',
  async (state) => {
    const { stage, run, unlabel } = await upgradeByLabel()
    await stage.until(() => isIn(state, FIRST)(run))
    await unlabel()
    expect(await endOf(stage, run)).toMatchObject({ outcome: 'done', reason: expect.stringMatching(/^2 upgraded/) })
    expect(stage.world.pods().every((pod) => isReady(pod) && asksFor(podView(pod), V2.images))).toBe(true)
  },
)

// The replacement has no such label in either case.
test('it goes afterwards: the run ends as it does where its label was there until then', async () => {
  async function endsAs(isUnlabelled: boolean): Promise<unknown> {
    const { stage, run, unlabel } = await upgradeByLabel()
    await stage.until(() => isIn('restarting', FIRST)(run))
    if (isUnlabelled) await unlabel()
    await stage.pass(500)
    stage.world.cluster.deletePod(NAMESPACE, FIRST)
    await endOf(stage, run)
    return { outcome: run.end?.outcome, reason: run.end?.reason, pods: run.end?.pods?.map(({ pod, outcome }) => [pod, outcome]) }
  }
  expect(await endsAs(true)).toEqual(await endsAs(false))
})

test('while it waits for its turn: it is upgraded as it was planned', async () => {
  const { stage, run, unlabel } = await upgradeByLabel()
  await stage.until(() => isIn('restarting', FIRST)(run))
  await unlabel(`${NAME}-0`)
  expect(await endOf(stage, run)).toMatchObject({ outcome: 'done', reason: expect.stringMatching(/^2 upgraded/) })
})

test('it gets the label back', async () => {
  const { stage, run, unlabel, label } = await upgradeByLabel()
  await stage.until(() => isIn('emptying', FIRST)(run))
  await unlabel()
  await stage.until(() => isIn('restarting', FIRST)(run))
  await label()
  expect(await endOf(stage, run)).toMatchObject({ outcome: 'done', reason: expect.stringMatching(/^2 upgraded/) })
})

test('control: before the run has begun it is left out', async () => {
  const { stage, run, unlabel } = await upgradeByLabel()
  await stage.until(() => run.events.some(({ type }) => type === 'planned'))
  await unlabel()
  expect(run.events.some(({ type }) => type === 'started')).toBe(false)
  expect(await endOf(stage, run)).toMatchObject({ outcome: 'done', reason: expect.stringMatching(/^1 upgraded/) })
  expect(asksFor(podView(podOf(stage, FIRST)), V2.images)).toBe(false)
})

test('by name: it loses the label by which its workload knows it, and the load balancer forgets its drain', async () => {
  const stage = await openStage(plainScene({ pods: 2, readyAfterMs: 5_000, balancers: [plainBalancer({ volatile: true })] }))
  const { client, ask } = stage
  const run = stage.start(V2)
  await stage.until(() => isIn('restarting', FIRST)(run))
  await ask(
    client.patch(pathOf(FIRST), [
      { op: 'replace', path: '/metadata/labels/app', value: 'quarantined' },
      { op: 'remove', path: '/metadata/ownerReferences' },
    ]),
  )
  await stage.pass(500)
  stage.world.reload('edge')
  const edge = stage.world.balancers.get('edge')!
  await stage.until(() => edge.state(FIRST)?.routable === false)
  expect(isReady(podOf(stage, FIRST))).toBe(false)
  // The controller has released the pod, and cannot make another pod of its name.
  expect(await endOf(stage, run)).toMatchObject({
    outcome: 'deadline',
    reason: 'no pod may leave in time: the window of 1 is full: statefulset/web lacks a pod',
    pods: [
      { pod: FIRST, outcome: 'upgraded' },
      { pod: `${NAME}-0`, outcome: 'unchanged' },
    ],
  })
})
