import { KINDS } from './kinds/index.ts'
import { idNamed } from './kinds/testing/id-named.ts'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Reason, ReasonOf } from '../reasons/reason.ts'
import { KubeError } from '../kube/errors.ts'
import { podView } from '../pods/view.ts'
import type { WorkloadRef } from '../plan/plan.ts'
import type { OpenOptions } from './open-options.ts'
import { openNamed, openOwners, openWorkload, podSelector } from './open.ts'
import { type FakeApi, type Raw, createFakeApi } from './testing/fake-api.ts'
import {
  APPS,
  NAMESPACE,
  deployment,
  ownerOf,
  rawPod,
  replicaSet,
  startRevisionController,
  workload,
} from './testing/manifests.ts'
import { withObservation } from '../observation/testing/with-observation.ts'
import { createTestClock, turn } from './testing/test-clock.ts'
import type { Workload } from './workload.ts'

const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`
const v2 = [{ container: 'app', image: 'registry/app:v2' }]
let api: FakeApi
let options: OpenOptions

beforeEach(async () => {
  api = createFakeApi()
  options = withObservation({
    client: api.client,
    kinds: KINDS,
    clock: createTestClock(),
    random: { next: () => 0 },
    onError: () => {},
  })
  startRevisionController(api)
  api.put(`${APPS}/statefulsets/web`, workload())
  api.put(`${APPS}/deployments/web`, deployment())
  api.put(`${APPS}/replicasets/web-1`, replicaSet('web-1', ownerOf('apps/v1', 'Deployment', 'web')))
  api.put(`${APPS}/replicasets/alone`, replicaSet('alone', undefined))
  api.put(`${APPS}/replicasets/rollout-1`, replicaSet('rollout-1', ownerOf('argoproj.io/v1alpha1', 'Rollout', 'shop')))
  await turn()
})

function putPod(name: string, owner?: Raw): void {
  api.put(`${PODS}/${name}`, rawPod({ name, ...(owner ? { owner } : {}) }))
}

function view(name: string) {
  return podView(api.get(`${PODS}/${name}`))
}

function ref(kind: WorkloadRef['kind'], name: string): WorkloadRef {
  return { ...idNamed(kind, name), namespace: NAMESPACE }
}

function names(workloads: readonly Workload[]): string[] {
  return workloads.map(({ ref: { kind, name } }) => `${kind}/${name}`)
}

async function stopAll(workloads: readonly Workload[]): Promise<void> {
  await Promise.all(workloads.map((one) => one.stop()))
}

describe('opening by name', () => {
  it('says what does not exist', async () => {
    for (const [kind, name] of [
      ['StatefulSet', 'wbe'],
      ['Deployment', 'wbe'],
      ['Pod', 'wbe'],
    ] as const) {
      await expect(openWorkload(ref(kind, name), options)).rejects.toMatchObject({
        name: 'WorkloadError',
        kind: 'not-found',
        reason: { code: 'no-such-workload', workload: `${kind.toLowerCase()}/wbe`, namespace: 'shop' },
      })
    }
  })

  it.each([
    ['LIST', 'controllerrevisions', ['list', 'watch'], 'controllerrevisions.apps'],
    ['LIST', 'statefulsets', ['list', 'watch'], 'statefulsets.apps'],
    ['GET', 'pods', ['get'], 'pods'],
  ])('says which right is missing: %s %s', async (method, plural, verbs, resource) => {
    putPod('lone')
    api.faults.before = (at, path) => {
      if (at === method && path.includes(`/${plural}`))
        throw new KubeError(`User "ci" cannot ${method} resource "${plural}"`, { kind: 'definite', method, path, status: 403 })
    }
    const opening = openNamed([ref('StatefulSet', 'web'), ref('Pod', 'lone')], options)
    await expect(opening).rejects.toMatchObject({
      kind: 'forbidden',
      reason: { code: 'not-allowed', verbs, resource, namespace: 'shop' },
    })
  })

  it('opens each owner once, sorted, and knows which pods were meant', async () => {
    const owner = ownerOf('apps/v1', 'StatefulSet', 'web')
    for (const name of ['web-0', 'web-1', 'web-2']) putPod(name, owner)
    putPod('lone')
    putPod('other')
    putPod('shop-1', ownerOf('apps/v1', 'ReplicaSet', 'web-1'))
    const named = await openNamed(
      [ref('Pod', 'web-2'), ref('Pod', 'lone'), ref('Pod', 'web-0'), ref('Deployment', 'web')],
      options,
    )
    expect(names(named.workloads)).toEqual(['Deployment/web', 'Pod/lone', 'StatefulSet/web'])
    expect(named.selector).toEqual({ selects: expect.any(Function) })
    expect(['lone', 'other', 'shop-1', 'web-0', 'web-1', 'web-2'].filter((name) => named.includes(view(name)))).toEqual([
      'lone',
      'shop-1',
      'web-0',
      'web-2',
    ])
    await stopAll(named.workloads)
  })

  it('narrows the pods for a single workload', async () => {
    putPod('lone')
    const lone = await openWorkload(ref('Pod', 'lone'), options)
    const web = await openWorkload(ref('StatefulSet', 'web'), options)
    const selects = expect.any(Function)
    expect(podSelector([lone])).toEqual({ fieldSelector: 'metadata.name=lone', selects })
    expect(podSelector([web])).toEqual({ labelSelector: 'app=web', selects })
    expect(podSelector([lone, web])).toEqual({ selects })
    const pods = [
      { name: 'lone', labels: {} },
      { name: 'web-0', labels: { app: 'web' } },
      { name: 'other', labels: { app: 'other' } },
    ]
    const selected = (workloads: Workload[]) => pods.flatMap((pod) => (podSelector(workloads).selects!(pod) ? [pod.name] : []))
    expect([selected([lone]), selected([web]), selected([lone, web])]).toEqual([['lone'], ['web-0'], ['lone', 'web-0']])
    await web.stop()
  })

  it('leaves no watch behind where one of several cannot be opened', async () => {
    let watches = 0
    const { client } = api
    const watch: typeof client.watch = async (path, watching) => {
      watches += 1
      await client.watch(path, watching)
      watches -= 1
    }
    const opening = openNamed([ref('StatefulSet', 'web'), ref('DaemonSet', 'none')], { ...options, client: { ...client, watch } })
    await expect(opening).rejects.toMatchObject({ kind: 'not-found' })
    await turn()
    expect(watches).toBe(0)
  })
})

describe('opening the owners of pods', () => {
  it('reads each ReplicaSet once', async () => {
    for (const name of ['a', 'b', 'c']) putPod(name, ownerOf('apps/v1', 'ReplicaSet', 'web-1'))
    const workloads = await openOwners(['a', 'b', 'c'].map(view), options)
    expect(names(workloads)).toEqual(['Deployment/web'])
    expect(workloads[0]!.owns(view('a'))).toBe(true)
    // One list finds the Deployment, and one is that of the reflector.
    expect(api.calls.filter(({ method, path }) => method === 'LIST' && path.endsWith('/replicasets'))).toHaveLength(2)
    await stopAll(workloads)
  })

  it('makes a workload of each bare pod, which costs no call', async () => {
    putPod('b')
    putPod('a')
    const pods = [view('b'), view('a')]
    const before = api.calls.length
    const workloads = await openOwners(pods, options)
    expect(names(workloads)).toEqual(['Pod/a', 'Pod/b'])
    expect(api.calls).toHaveLength(before)
    const [a] = workloads
    expect(a!.assess(v2, pods)).toEqual({ images: v2, refusals: [], warnings: [] })
    expect([a!.owns(view('a')), a!.owns(view('b'))]).toEqual([true, false])
    await a!.prepare(v2, { signal: new AbortController().signal, isOwned: async () => true })
    expect([a!.podOperations(view('a')), a!.hasRevision(view('a'))]).toEqual([[], true])
  })

  it('does not take a pod of an owner for the bare pod that had its name', async () => {
    putPod('web-0')
    const [bare] = await openOwners([view('web-0')], options)
    expect(bare!.owns(podView(rawPod({ name: 'web-0', owner: ownerOf('apps/v1', 'StatefulSet', 'web') })))).toBe(false)
  })

  it.each<[string, Raw, Omit<ReasonOf<'unsupported-owner'>, 'code' | 'pods'>]>([
    [
      'a Job',
      ownerOf('batch/v1', 'Job', 'import'),
      { owner: { kind: 'Job', name: 'import', apiVersion: 'batch/v1' }, upgrades: 'never' },
    ],
    [
      'a CloneSet',
      ownerOf('apps.kruise.io/v1alpha1', 'CloneSet', 'shop'),
      { owner: { kind: 'CloneSet', name: 'shop', apiVersion: 'apps.kruise.io/v1alpha1' }, upgrades: 'in-place-by-itself' },
    ],
    [
      'a StatefulSet of OpenKruise, which has the same kind',
      ownerOf('apps.kruise.io/v1beta1', 'StatefulSet', 'web'),
      { owner: { kind: 'StatefulSet', name: 'web', apiVersion: 'apps.kruise.io/v1beta1' }, upgrades: 'in-place-by-itself' },
    ],
    [
      'a node',
      ownerOf('v1', 'Node', 'node-1'),
      { owner: { kind: 'Node', name: 'node-1', apiVersion: 'v1' }, upgrades: 'by-manifest' },
    ],
    [
      'a Rollout, by its ReplicaSet',
      ownerOf('apps/v1', 'ReplicaSet', 'rollout-1'),
      { owner: { kind: 'Rollout', name: 'shop', apiVersion: 'argoproj.io/v1alpha1' }, upgrades: 'unknown' },
    ],
  ])('refuses the pods of %s together', async (_name, owner, facts) => {
    putPod('a', owner)
    putPod('b', owner)
    const workloads = await openOwners([view('a'), view('b')], options)
    expect(workloads.flatMap((one) => one.assess(v2, [view('a'), view('b')]).refusals)).toEqual([
      { code: 'unsupported-owner', pods: ['a', 'b'], ...facts },
    ])
  })

  it('leaves out what a Job has left behind at its end, unless it is named', async () => {
    putPod('a')
    putPod('import', ownerOf('batch/v1', 'Job', 'import'))
    const completed = { ...view('import'), finished: true }
    expect(names(await openOwners([view('a'), completed], options))).toEqual(['Pod/a'])
    api.edit(`${PODS}/import`, (stored) => (stored.status.phase = 'Succeeded'))
    const { workloads } = await openNamed([ref('Pod', 'import')], options)
    expect(workloads[0]!.assess(v2, [completed]).refusals).toMatchObject([{ code: 'unsupported-owner' }])
  })

  it('refuses a ReplicaSet of its own like a Deployment', async () => {
    putPod('a', ownerOf('apps/v1', 'ReplicaSet', 'alone'))
    const [refused] = await openOwners([view('a')], options)
    expect(refused!.assess(v2, [view('a')]).refusals).toEqual([
      { code: 'template-drift', owner: 'replicaset/alone', pod: 'a', made: 'ReplicaSet', images: [] },
    ])
    const [accepted] = await openOwners([view('a')], { ...options, acceptTemplateDrift: true })
    expect(accepted!.assess(v2, [view('a')])).toMatchObject({
      refusals: [],
      warnings: [{ code: 'template-unchanged', owner: 'replicaset/alone', pod: 'a', made: 'ReplicaSet', images: [] }],
    })
  })

  it('takes minReadySeconds and the count of available pods from a ReplicaSet of its own', async () => {
    const alone = replicaSet('alone', undefined)
    api.put(`${APPS}/replicasets/alone`, {
      ...alone,
      spec: { ...alone.spec, minReadySeconds: 20 },
      status: { ...alone.status, readyReplicas: 3, availableReplicas: 2 },
    })
    putPod('a', ownerOf('apps/v1', 'ReplicaSet', 'alone'))
    const [lone] = await openOwners([view('a')], options)
    expect([lone!.minReadyMs(), lone!.counted()]).toEqual([20_000, { ready: 3, available: 2 }])
    putPod('b')
    const [bare] = await openOwners([view('b')], options)
    expect([bare!.minReadyMs(), bare!.counted()]).toEqual([0, undefined])
  })

  it('needs an image for a bare pod, and one of its containers', async () => {
    putPod('a')
    const [bare] = await openOwners([view('a')], options)
    expect(bare!.assess([], [view('a')]).refusals).toEqual([{ code: 'no-image', pod: 'a' }])
    expect(bare!.assess([{ container: 'proxy', image: 'x' }], [view('a')]).refusals).toMatchObject([{ code: 'init-container' }])
    expect(bare!.assess([{ container: 'ap', image: 'x' }], [view('a')]).refusals).toMatchObject([{ code: 'unknown-container' }])
  })
})

describe('a Deployment', () => {
  it('owns the pods of every ReplicaSet that it has, also of later ones', async () => {
    const web = await openWorkload(ref('Deployment', 'web'), options)
    const later = podView(rawPod({ owner: ownerOf('apps/v1', 'ReplicaSet', 'web-2') }))
    const foreign = podView(rawPod({ owner: ownerOf('apps/v1', 'ReplicaSet', 'alone') }))
    expect([web.owns(later), web.owns(foreign)]).toEqual([false, false])
    api.put(`${APPS}/replicasets/web-2`, replicaSet('web-2', ownerOf('apps/v1', 'Deployment', 'web')))
    await turn()
    expect([web.owns(later), web.owns(foreign)]).toEqual([true, false])
    expect(web.assess([], []).refusals.map(({ code }) => code)).toEqual(['rollout-in-progress'])
    await web.stop()
  })

  it('is prepared without a write, and tells when a rollout begins', async () => {
    const web = await openWorkload(ref('Deployment', 'web'), { ...options, acceptTemplateDrift: true })
    web.assess(v2, [])
    await web.prepare(v2, { signal: new AbortController().signal, isOwned: async () => true })
    const drifted: Reason[] = []
    web.onDrift(({ reason }) => drifted.push(reason))
    api.edit(`${APPS}/deployments/web`, (raw) => (raw.spec.replicas = 5))
    await turn()
    expect(drifted).toEqual([])
    api.edit(`${APPS}/deployments/web`, (raw) => (raw.spec.template.spec.containers[0].image = 'registry/app:v3'))
    await turn()
    expect(drifted).toEqual([
      {
        code: 'template-changed',
        workload: 'deployment/web',
        differences: [{ path: 'spec.template.spec.containers[app].image', before: 'registry/app:v1', after: 'registry/app:v3' }],
      },
    ])
    expect(api.calls.filter(({ method }) => method === 'PATCH')).toEqual([])
    await web.stop()
  })
})

describe('how many pods it is to have', () => {
  it.each([
    { kind: 'StatefulSet' as const, plural: 'statefulsets', scale: (raw: Raw, to: number) => (raw.spec.replicas = to) },
    { kind: 'Deployment' as const, plural: 'deployments', scale: (raw: Raw, to: number) => (raw.spec.replicas = to) },
    {
      kind: 'DaemonSet' as const,
      plural: 'daemonsets',
      scale: (raw: Raw, to: number) => (raw.status = { desiredNumberScheduled: to }),
    },
  ])('a $kind: as it was observed last, and none while it goes', async ({ kind, plural, scale }) => {
    const path = `${APPS}/${plural}/web`
    api.put(path, kind === 'Deployment' ? deployment() : workload())
    const web = await openWorkload(ref(kind, 'web'), options)
    const changed: (number | undefined)[] = []
    web.onChange(() => changed.push(web.desired()))
    api.edit(path, (raw) => scale(raw, 5))
    await turn()
    api.edit(path, ({ metadata }) => (metadata.deletionTimestamp = '2026-01-01T00:00:00Z'))
    await turn()
    expect(changed.slice(-2)).toEqual([5, 0])
    api.remove(path)
    await turn()
    expect(web.desired()).toBe(0)
    await web.stop()
  })

  it('bare pods: nobody says', async () => {
    putPod('lone')
    expect((await openWorkload(ref('Pod', 'lone'), options)).desired()).toBeUndefined()
  })
})

describe.each(['StatefulSet', 'Deployment'] as const)('%s: what is known of it', (kind) => {
  it('is not of now until it has been asked for anew, and says so both times', async () => {
    const { workloads } = await openNamed([ref(kind, 'web')], options)
    const [one] = workloads
    const told: boolean[] = []
    one!.onChange(() => told.push(one!.isCurrent()))
    expect(one!.isCurrent()).toBe(true)
    const refreshed = one!.refresh()
    expect(one!.isCurrent()).toBe(false)
    await refreshed
    expect(one!.isCurrent()).toBe(true)
    expect([told[0], told.at(-1)]).toEqual([false, true])
    await stopAll(workloads)
  })
})

// A pod that was scaled down counts as expected again while the view is not current, because the workload may have been scaled up unseen.
it('a pod that was scaled away is to come again, as long as nobody knows whether that is so still', async () => {
  api.edit(`${APPS}/statefulsets/web`, (object) => (object.spec.replicas = 1))
  putPod('web-2', ownerOf('apps/v1', 'StatefulSet', 'web'))
  const { workloads } = await openNamed([ref('StatefulSet', 'web')], options)
  const [one] = workloads
  expect(one!.replaces(view('web-2'))).toBe(false)
  const refreshed = one!.refresh()
  expect(one!.replaces(view('web-2'))).toBe(true)
  await refreshed
  expect(one!.replaces(view('web-2'))).toBe(false)
  await stopAll(workloads)
})

describe('with the feeds of a namespace', () => {
  const shared = (client = api.client) => withObservation({ ...options, client }, 'namespace')

  it('workloads share them, and each knows its own', async () => {
    api.put(`${APPS}/statefulsets/other`, { ...workload(), metadata: { ...workload().metadata, name: 'other', uid: 'other' } })
    await turn()
    const among = shared()
    const [web, other] = await Promise.all([
      openWorkload(ref('StatefulSet', 'web'), among),
      openWorkload(ref('StatefulSet', 'other'), among),
    ])
    // One feed for the workloads, and one for their revisions.
    expect(among.observation.size).toBe(2)
    const changed: string[] = []
    for (const one of [web, other]) one.onChange(() => changed.push(one.ref.name))
    changed.length = 0
    api.edit(`${APPS}/statefulsets/other`, ({ spec }) => (spec.replicas = 7))
    await turn()
    expect([new Set(changed), web.desired() === 7, other.desired()]).toEqual([new Set(['other']), false, 7])
    await stopAll([web, other])
    expect(among.observation.size).toBe(0)
  })

  it('who may list one workload by its name alone does without the others', async () => {
    const asked: string[] = []
    const get: typeof api.client.get = async (path, given) => {
      if (path.includes('/statefulsets?')) asked.push(path.includes('metadata.name') ? 'one' : 'all')
      if (!path.includes('/statefulsets?') || path.includes('metadata.name')) return api.client.get(path, given)
      throw new KubeError('statefulsets is forbidden', { kind: 'definite', method: 'GET', path, status: 403 })
    }
    const told: string[] = []
    const among = { ...shared({ ...api.client, get }), onError: (error: Error) => told.push(error.message) }
    const web = await openWorkload(ref('StatefulSet', 'web'), among)
    expect([asked, told, web.ref.name]).toEqual([['all', 'one'], [], 'web'])
    await web.stop()
  })
})
