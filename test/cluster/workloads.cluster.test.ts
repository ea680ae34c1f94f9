import { KINDS } from '../../src/workloads/kinds/index.ts'
import { idNamed } from '../../src/workloads/kinds/testing/id-named.ts'
import { DAEMON_SET } from '../../src/workloads/kinds/daemon-set.ts'
import { DEPLOYMENT } from '../../src/workloads/kinds/deployment.ts'
import { POD } from '../../src/workloads/kinds/pod.ts'
import { STATEFUL_SET } from '../../src/workloads/kinds/stateful-set.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { KubeClient } from '../../src/kube/client.ts'
import { type Connection, connect } from '../../src/kube/connect.ts'
import type { PodView } from '../../src/pods/glossary.ts'
import { podView } from '../../src/pods/view.ts'
import type { WorkloadRef } from '../../src/plan/plan.ts'
import { rbacManifest } from '../../src/cli/output/rbac-manifest.ts'
import { systemClock, systemRandom } from '../../src/ports/system.ts'
import { withObservation } from '../../src/observation/testing/with-observation.ts'
import { openNamed, openWorkload } from '../../src/workloads/open.ts'
import type { Workload } from '../../src/workloads/workload.ts'
import { reasonWords } from '../../src/report/words/words.ts'
import type { KubeObject } from './kube-api.ts'
import { daemonSet, deployment, namespace, statefulSet } from './manifests.ts'
import { describeOnCluster } from './shared-cluster.ts'
import { removeNamespace, waitForPods } from './workloads.ts'

const ns = 'workloads'
const v1 = [{ container: 'app', image: 'localhost/app:v1' }]
const v2 = [{ container: 'app', image: 'localhost/app:v2' }]

/** Returns the objects that `sluice rbac` prints for the user of these tests. */
function rbac(): KubeObject[] {
  const subject = { kind: 'User', name: 'sluice-runner' } as const
  const text = rbacManifest({ workloads: [], namespace: ns, subject, orders: true, loadBalancers: [], locks: [] })
  return parseAllDocuments(text).map((document) => document.toJS() as KubeObject)
}

describeOnCluster('workloads, with the rights that sluice rbac prints', (cluster) => {
  let connection: Connection
  let client: KubeClient
  const opened: Workload[] = []
  const errors: Error[] = []

  beforeAll(async () => {
    const { api } = cluster()
    await api.apply(
      namespace(ns),
      ...rbac(),
      statefulSet({ name: 'web', namespace: ns, replicas: 2 }),
      daemonSet({ name: 'agent', namespace: ns }),
      deployment({ name: 'shop', namespace: ns, replicas: 1 }),
      statefulSet({ name: 'rolling', namespace: ns, replicas: 0, updateStrategy: 'RollingUpdate' }),
      daemonSet({ name: 'rolling', namespace: ns, updateStrategy: 'RollingUpdate', port: 8090 }),
    )
    await Promise.all([waitForPods(api, ns, 'web', 2), waitForPods(api, ns, 'agent', 1), waitForPods(api, ns, 'shop', 1)])
    const kubeconfig = await cluster().kubeconfigFor({ user: 'sluice-runner' })
    connection = await connect({ kubeconfig, clock: systemClock, random: systemRandom })
    client = connection.client
  })

  afterAll(async () => {
    await Promise.all(opened.map((one) => one.stop()))
    await connection.close()
    await removeNamespace(cluster().api, ns)
    expect(errors).toEqual([])
  })

  async function open(kind: WorkloadRef['kind'], name: string): Promise<Workload> {
    const options = withObservation({
      client,
      kinds: KINDS,
      clock: systemClock,
      random: systemRandom,
      onError: (error: Error) => errors.push(error),
    })
    const workload = await openWorkload({ ...idNamed(kind, name), namespace: ns }, options)
    opened.push(workload)
    return workload
  }

  async function podsOf(app: string): Promise<PodView[]> {
    return (await cluster().api.list('Pod', ns, `app=${app}`)).map(podView)
  }

  function prepare(workload: Workload, images: typeof v1): Promise<void> {
    return workload.prepare(images, { signal: AbortSignal.timeout(30_000), isOwned: async () => true })
  }

  const kinds = [
    { ...STATEFUL_SET, name: 'web', count: 2, updated: 'updatedReplicas' },
    { ...DAEMON_SET, name: 'agent', count: 1, updated: 'updatedNumberScheduled' },
  ] as const

  it.each(kinds)(
    '$kind: counts pods as updated that were patched in place, there and back',
    async ({ kind, name, count, updated }) => {
      const workload = await open(kind, name)
      const before = await podsOf(name)
      expect(before.map((pod) => workload.owns(pod))).toEqual(before.map(() => true))
      for (const images of [v2, v1]) {
        const pods = await podsOf(name)
        expect(workload.assess(images, pods)).toMatchObject({
          refusals: [],
          warnings: [],
          template: { change: [{ container: 'app' }] },
        })
        await prepare(workload, images)
        expect(pods.map((pod) => workload.hasRevision(pod))).toEqual(pods.map(() => false))
        expect((await cluster().api.get(kind, name, ns)).status[updated] ?? 0).toBe(0)
        for (const pod of pods) {
          await client.patch(`/api/v1/namespaces/${ns}/pods/${pod.name}`, [
            { op: 'test', path: '/metadata/uid', value: pod.uid },
            { op: 'replace', path: '/spec/containers/0/image', value: images[0]!.image },
            ...workload.podOperations(pod),
          ])
        }
        // The count may still be the one of the template before.
        await cluster().api.waitForObject(
          kind,
          name,
          ns,
          ({ metadata, status }) => status.observedGeneration === metadata.generation && status[updated] === count,
        )
        const after = await podsOf(name)
        expect(after.map((pod) => workload.hasRevision(pod))).toEqual(after.map(() => true))
        expect(workload.assess(images, after)).toEqual({ images, refusals: [], warnings: [] })
      }
      // On the old template the pods have the old revision again, and no pod was replaced.
      expect((await podsOf(name)).map(({ uid, revision }) => [uid, revision])).toEqual(
        before.map(({ uid, revision }) => [uid, revision]),
      )
    },
  )

  it.each(kinds)(
    '$kind: refuses an edit that pods cannot take in place, and tells of one after prepare',
    async ({ kind, name }) => {
      const { api } = cluster()
      const workload = await open(kind, name)
      await prepare(workload, v1)
      const drift = new Promise<string>((resolve) => {
        workload.onDrift(({ reason }) => resolve(reasonWords(reason)))
      })
      const change = { spec: { template: { spec: { containers: [{ name: 'app', env: [{ name: 'EDITED', value: 'yes' }] }] } } } }
      await api.patch(kind, name, ns, change, 'strategic')
      const difference = 'spec.template.spec.containers[app].env[EDITED]: (none) → {"name":"EDITED","value":"yes"}'
      expect(await drift).toBe(`the template of ${kind.toLowerCase()}/${name} was changed by somebody else: ${difference}`)
      const { refusals } = workload.assess(v2, await podsOf(name))
      expect(refusals.map((one) => [one.code, reasonWords(one)])).toEqual([
        ['revision-differs', expect.stringContaining(difference)],
      ])
      await api.patch(kind, name, ns, [{ op: 'remove', path: '/spec/template/spec/containers/0/env/0' }])
    },
  )

  it.each(['StatefulSet', 'DaemonSet'] as const)(
    '%s: the command that a refusal of RollingUpdate names does what it says',
    async (kind) => {
      const { api } = cluster()
      const workload = await open(kind, 'rolling')
      const [refusal] = workload.assess(v2, []).refusals
      if (refusal?.code !== 'update-strategy') throw new Error(`it was ${refusal?.code}`)
      const { change } = refusal
      if (change.command !== 'kubectl') throw new Error(`it was ${change.command}`)
      const pods = await podsOf('rolling')
      const patch = change.args[change.args.indexOf('-p') + 1]!
      await api.patch(kind, 'rolling', ns, JSON.parse(patch))
      await api.waitForObject(kind, 'rolling', ns, ({ metadata, status }) => status.observedGeneration === metadata.generation)
      await api.waitFor(
        'no refusal',
        async () => workload.assess(v2, []).refusals,
        (refusals) => refusals.length === 0,
      )
      expect((await podsOf('rolling')).map(({ uid }) => uid)).toEqual(pods.map(({ uid }) => uid))
    },
  )

  it('Deployment: finds it from its pod, and refuses', async () => {
    const [pod] = await podsOf('shop')
    const options = withObservation({
      client,
      kinds: KINDS,
      clock: systemClock,
      random: systemRandom,
      onError: (error: Error) => errors.push(error),
    })
    const named = await openNamed([{ ...POD, name: pod!.name, namespace: ns }], options)
    opened.push(...named.workloads)
    expect(named.workloads.map(({ ref }) => ref)).toEqual([{ ...DEPLOYMENT, name: 'shop', namespace: ns }])
    expect(named.includes(pod!)).toBe(true)
    expect(named.workloads[0]!.assess(v2, [pod!]).refusals.map(({ code }) => code)).toEqual(['template-drift'])
    expect(named.workloads[0]!.assess([], [pod!])).toEqual({ images: [], refusals: [], warnings: [] })
  })

  it('says what a user without rights lacks', async () => {
    const kubeconfig = await cluster().kubeconfigFor({ user: 'sluice-viewer' })
    const stranger = await connect({ kubeconfig, clock: systemClock, random: systemRandom })
    const options = withObservation({
      client: stranger.client,
      kinds: KINDS,
      clock: systemClock,
      random: systemRandom,
      onError: () => {},
    })
    await expect(openWorkload({ ...STATEFUL_SET, name: 'web', namespace: ns }, options)).rejects.toMatchObject({
      name: 'WorkloadError',
      kind: 'forbidden',
      reason: { code: 'not-allowed', verbs: ['list', 'watch'], resource: 'statefulsets.apps', namespace: ns },
    })
    await stranger.close()
  })
})
