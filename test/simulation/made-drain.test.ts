import { expect, test } from 'vitest'
import { resolvePod } from '../../src/engine/resolving/resolve.ts'
import type { RunRequest } from '../../src/engine/run.ts'
import { prepareRun } from '../../src/engine/run.ts'
import type { KubeClient, PatchOperation } from '../../src/kube/client.ts'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { addStatefulSet } from './other-workload.ts'
import { plainBalancer, plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { isIn, openStage } from './stage.ts'
import { clockOf, ended, upgradeTo } from './story.ts'

/*
 * Found by a reviewer: the drain intents of some processes that were killed were taken for such as had come late, by a count that said
 * nothing of them. What they had drained stayed out, and the run said done.
 */

const TWO = { maxUnavailable: { count: 2 } }
const FIRST = `${NAME}-0`
const LAST = `${NAME}-1`
const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/sluice-statefulset-${NAME}`

interface Stored {
  metadata: { ownerReferences: unknown; labels: { app: string } }
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

/** The pod is its workload's no more, until that is called. */
async function release(stage: Stage, pod: string): Promise<() => Promise<void>> {
  const { ownerReferences, labels } = storedPod(stage, pod).metadata
  const places = ['/metadata/ownerReferences', '/metadata/labels/app']
  await patchPod(stage, pod, ...places.map((path) => ({ op: 'remove', path })))
  const values = [ownerReferences, labels.app]
  return () => patchPod(stage, pod, ...places.map((path, index) => ({ op: 'add', path, value: values[index] })))
}

const ofPodAlone = (pod: string): Partial<RunRequest> => ({
  images: [{ container: 'app', image: imageOf('v2') }],
  select: { refs: [{ kind: 'Pod', name: pod }] },
})

async function interruptedAtStart(stage: Stage, request: Partial<RunRequest>): Promise<void> {
  const actor = stage.start(request)
  await stage.until(() => actor.end !== undefined || actor.events.some(({ type }) => type === 'started'))
  actor.interrupt()
  expect((await ended(stage, actor)).outcome).toBe('interrupted')
}

/** It is killed when the pod is drained. */
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

test.each([[[NAME]], [[NAME, 'another']]])(
  'a pod comes back to its workload drained, in the middle of a run of %j',
  async (names) => {
    const stage = await openScene(2, 20_000)
    await addStatefulSet(stage, 'another')
    const request = { ...upgradeTo('v2', { ...TWO, names }) }
    await interruptedAtStart(stage, request)
    const giveBack = await release(stage, LAST)
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

test('somebody clears the holder of a Lease whose owner lives, and is about to drain', async () => {
  const stage = await openScene(1, 5_000)
  const request = upgradeTo('v2', TWO)
  await interruptedAtStart(stage, request)
  let goOn: (() => void) | undefined
  const first = stage.start(request, (ports) => {
    const { client } = ports
    const patch: KubeClient['patch'] = async (path, operations, options) => {
      const isIntent = path.includes('/pods/') && JSON.stringify(operations).includes('DrainIntent')
      if (isIntent && goOn === undefined) await new Promise<void>((resolve) => (goOn = resolve))
      return client.patch(path, operations, options)
    }
    return prepareRun(request, { ...ports, client: { ...client, patch } })
  })
  await stage.until(() => goOn !== undefined)
  const clear = [{ op: 'replace', path: '/spec/holderIdentity', value: '' }] as unknown as PatchOperation[]
  await stage.ask(stage.client.patch(LEASE, clear))
  const second = stage.start(request)
  await stage.until(() => second.events.some(({ type }) => type === 'started'))
  goOn!()
  expect(await endOf(stage, second, FIRST)).toEqual(HOME)
  expect((await ended(stage, first)).outcome).toBe('conflict')
})
