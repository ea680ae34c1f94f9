import { DEPLOYMENT } from '../../src/workloads/kinds/deployment.ts'
import { POD } from '../../src/workloads/kinds/pod.ts'
import { expect, test } from 'vitest'
import { resolvePod } from '../../src/engine/resolving/resolve.ts'
import type { RunRequest } from '../../src/engine/run.ts'
import type { PatchOperation } from '../../src/kube/client.ts'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { addStatefulSet } from './other-workload.ts'
import { plainBalancer, plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { isIn, openStage } from './stage.ts'
import { clockOf, ended, upgradeTo } from './story.ts'

/*
 * The drain intent of a killed process that has drained counts. The epoch alone must not declare it late: its target would stay out, and
 * the run would end as done.
 */

const TWO = { maxUnavailable: { count: 2 } }
const FIRST = `${NAME}-0`
const LAST = `${NAME}-1`
const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/sluice-statefulset-${NAME}`

interface Stored {
  metadata: { name: string; ownerReferences: unknown; labels: { app: string } }
  status: { conditions: { type: string; message: string }[] }
}

function openScene(pods: number, readyAfterMs = 2_000): Promise<Stage> {
  return openStage(plainScene({ pods, readyAfterMs, balancers: [plainBalancer({ longestRequestMs: 6_000 })] }))
}

function storedPod({ world }: Stage, pod: string): Stored {
  return world.server.store.get('pods', NAMESPACE, pod) as unknown as Stored
}

async function patchPod(stage: Stage, path: string, ...operations: object[]): Promise<void> {
  await stage.ask(stage.client.patch(`/api/v1/namespaces/${NAMESPACE}/pods/${path}`, operations as PatchOperation[]))
  await stage.pass(200)
}

/** Releases the pod from its workload until the returned function is called. */
async function release(stage: Stage, pod: string): Promise<() => Promise<void>> {
  const { ownerReferences, labels } = storedPod(stage, pod).metadata
  const places = ['/metadata/ownerReferences', '/metadata/labels/app']
  await patchPod(stage, pod, ...places.map((path) => ({ op: 'remove', path })))
  const values = [ownerReferences, labels.app]
  return () => patchPod(stage, pod, ...places.map((path, index) => ({ op: 'add', path, value: values[index] })))
}

const ofPodAlone = (pod: string): Partial<RunRequest> => ({
  images: [{ container: 'app', image: imageOf('v2') }],
  select: { refs: [{ ...POD, name: pod }] },
})

async function begun(stage: Stage, request: Partial<RunRequest>): Promise<Actor> {
  const actor = stage.start(request)
  await stage.until(() => actor.events.some(({ type }) => type === 'started'))
  return actor
}

async function interruptedAtStart(stage: Stage, request: Partial<RunRequest>): Promise<void> {
  const actor = await begun(stage, request)
  actor.interrupt()
  expect((await ended(stage, actor)).outcome).toBe('interrupted')
}

/** Kills a run when the pod is drained. */
async function killedWithDrained(stage: Stage, request: Partial<RunRequest>, pod: string): Promise<void> {
  const actor = stage.start(request)
  await stage.until(() => isIn('emptying', pod)(actor))
  actor.host.kill()
  await stage.pass(1_000)
  expect(stage.world.balancers.get('edge')!.state(pod)?.admin).toBe('drain')
}

const HOME = ['done', 'ready']

async function endOf(stage: Stage, actor: Actor, pod: string): Promise<(string | undefined)[]> {
  const { outcome } = await ended(stage, actor)
  return [outcome, stage.world.balancers.get('edge')!.state(pod)?.admin]
}

test('a pod was its workload’s no more for a while, and had a Lease of its own, with a larger count', async () => {
  const stage = await openScene(2)
  const request = upgradeTo('v2', TWO)
  await interruptedAtStart(stage, request)
  const giveBack = await release(stage, LAST)
  for (let count = 0; count < 2; count += 1) await interruptedAtStart(stage, ofPodAlone(LAST))
  await giveBack()
  await killedWithDrained(stage, request, LAST)
  expect(await endOf(stage, stage.start(request), LAST)).toEqual(HOME)
})

test.each([
  { names: [NAME], before: 0 },
  { names: [NAME, 'another'], before: 0 },
  // Its own run has recorded before that nothing is drained for the pod, from a read that is stale.
  { names: [NAME], before: 1 },
  { names: [NAME, 'another'], before: 1 },
])(
  'a pod comes back to its workload drained, in the middle of a run of $names (runs of its own before: $before)',
  async ({ names, before }) => {
    const stage = await openScene(2, 20_000)
    await addStatefulSet(stage, 'another')
    const request = { ...upgradeTo('v2', { ...TWO, names }) }
    for (let count = 0; count < 1 + 3 * before; count += 1) await interruptedAtStart(stage, request)
    const giveBack = await release(stage, LAST)
    for (let count = 0; count < before; count += 1) await interruptedAtStart(stage, ofPodAlone(LAST))
    const run = stage.start(request)
    await stage.until(() => isIn('restarting', FIRST)(run))
    await killedWithDrained(stage, ofPodAlone(LAST), LAST)
    expect(run.end).toBeUndefined()
    await giveBack()
    expect(await endOf(stage, run, LAST)).toEqual(HOME)
  },
)

test.each([{ isDeleted: false }, { isDeleted: true }])(
  'a person says that a pod is out whose journal somebody has edited (its Lease deleted: $isDeleted)',
  async ({ isDeleted }) => {
    const stage = await openScene(1)
    for (let count = 0; count < 3; count += 1) await interruptedAtStart(stage, upgradeTo('v2'))
    await killedWithDrained(stage, upgradeTo('v2'), FIRST)
    await stage.pass(20_000)
    const { conditions } = storedPod(stage, FIRST).status
    const place = conditions.findIndex(({ type }) => type === 'sluice.dev/journal')
    const value = conditions[place]!.message.replace('"attempt":1', '"attempt":2')
    await patchPod(stage, `${FIRST}/status`, { op: 'replace', path: `/status/conditions/${place}/message`, value })
    if (isDeleted) await stage.ask(stage.client.delete(LEASE))
    const ports = { client: stage.client, clock: clockOf(stage), random: { next: () => 0.5 }, identity: 'ann@desk' }
    const told = { signal: new AbortController().signal, onWaiting() {}, onTrouble() {} }
    await stage.ask(resolvePod({ namespace: NAMESPACE, pod: FIRST, traffic: 'out', loadBalancers: [] }, { ...ports, ...told }))
    expect(await endOf(stage, stage.start(upgradeTo('v2')), FIRST)).toEqual(HOME)
  },
)

/** Releases the ReplicaSet from its Deployment until the returned function is called. */
async function orphan(stage: Stage): Promise<() => Promise<void>> {
  const patch = async (path: string, operation: object): Promise<void> => {
    const operations = [operation] as unknown as PatchOperation[]
    await stage.ask(stage.client.patch(`/apis/apps/v1/namespaces/${NAMESPACE}/${path}`, operations))
    await stage.pass(500)
  }
  const [set] = stage.world.server.store.list('replicasets.apps', NAMESPACE) as unknown as [Pick<Stored, 'metadata'>]
  const place = { path: '/metadata/ownerReferences' }
  const { name, ownerReferences: value } = set.metadata
  await patch(`deployments/${NAME}`, { op: 'add', path: '/spec/paused', value: true })
  await patch(`replicasets/${name}`, { op: 'remove', ...place })
  return async () => {
    await patch(`replicasets/${name}`, { op: 'add', ...place, value })
    await patch(`deployments/${NAME}`, { op: 'remove', path: '/spec/paused' })
  }
}

test('a ReplicaSet was its Deployment’s no more for a while, and its pod had a Lease of its own, with a larger count', async () => {
  const stage = await openStage(
    plainScene({ workload: 'Deployment', pods: 1, balancers: [plainBalancer({ longestRequestMs: 6_000 })] }),
  )
  const pod = (stage.world.pods()[0] as { metadata: { name: string } }).metadata.name
  const whole = {
    ...upgradeTo('v2'),
    select: { refs: [{ ...DEPLOYMENT, name: NAME } as const] },
    acceptTemplateDrift: true,
  }
  await interruptedAtStart(stage, whole)
  const giveBack = await orphan(stage)
  for (let count = 0; count < 2; count += 1) {
    const actor = await begun(stage, { ...whole, ...ofPodAlone(pod) })
    actor.host.kill()
    await stage.pass(1_000)
  }
  await interruptedAtStart(stage, { ...whole, ...ofPodAlone(pod) })
  await giveBack()
  await killedWithDrained(stage, whole, pod)
  expect(await endOf(stage, stage.start(whole), pod)).toEqual(HOME)
})
