import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { type Controller, type ControllerPorts } from '../../sim/controllers/controller.ts'
import { createQueue, keyOf, splitKey } from '../../sim/controllers/queue.ts'
import { currentRevision } from '../../sim/controllers/revisions.ts'
import { controllerOf, isActive, nameSuffix, podOf, podsOf, type WorkloadObject } from '../../sim/controllers/workload.ts'
import { writeStatus } from '../../sim/controllers/write-status.ts'
import { type EmbeddedCluster, startEmbeddedCluster } from '../../sim/http/embedded-cluster.ts'
import { writeKubeconfig } from '../../sim/http/kubeconfig.ts'
import { isReady, type Pod } from '../../sim/kubelet/pod.ts'
import { rbacManifest } from '../../src/cli/output/rbac-manifest.ts'
import type { RunEvent } from '../../src/engine/events.ts'
import { checkConfig } from '../../src/library/config.ts'
import { connect } from '../../src/library/connect.ts'
import { createSluice, type Sluice } from '../../src/library/create-sluice.ts'
import type { Run } from '../../src/library/run.ts'
import { byAddress } from '../../src/pods/heir.ts'
import type { KindName } from '../../src/pods/workload-id.ts'
import { KINDS } from '../../src/workloads/kinds/index.ts'
import type { Kind } from '../../src/workloads/kinds/kind.ts'
import { createKinds } from '../../src/workloads/kinds/kinds.ts'
import { revisionedRights } from '../../src/workloads/kinds/revisioned-rights.ts'
import { statefulSet } from '../../src/workloads/kinds/stateful-set.ts'
import { type JobBalancer, startJobBalancer } from './job-balancer.ts'

/*
 * One value adds a kind that sluice does not know, a custom resource. This file has all of it: the kind, its controller, and its upgrades
 * beside a StatefulSet of the same name.
 */

const CLONE_SET: KindName = { group: 'apps.example.dev', version: 'v1alpha1', kind: 'CloneSet', plural: 'clonesets' }

const cloneSet: Kind = {
  ...CLONE_SET,
  shortNames: ['clone'],
  mechanism: {
    type: 'revisioned',
    revisions: {
      desired: ({ wantedReplicas }) => wantedReplicas,
      replaces: () => true,
      podLabel: ({ name }) => name,
      updateRevision({ updateRevision }, revisions) {
        const revision = revisions.find(({ name }) => name === updateRevision)
        return revision && { revision, certain: true }
      },
    },
  },
  isHeir: byAddress,
  first: 'lowest',
  rights: revisionedRights(CLONE_SET),
}
const kinds = createKinds([...KINDS.all, cloneSet])

const CLONES = 'clonesets.apps.example.dev'
const REVISION = 'controller-revision-hash'
const BY = 'clone-set-controller'
const PORT = 80

/** Keeps the wanted number of pods under new names, and replaces none for a new template. */
function createCloneSetController({ store, clock, random }: ControllerPorts): Controller {
  const queue = createQueue({ clock, random }, [2, 15], (key) => {
    const [namespace, name] = splitKey(key)
    const set = store.get(CLONES, namespace, name) as WorkloadObject | undefined
    if (set === undefined) return
    const updateRevision = currentRevision(store, set, 'controller.kubernetes.io/hash', BY).metadata.name
    const pods = podsOf(store, set).filter(isActive)
    for (let missing = (set.spec.replicas ?? 1) - pods.length; missing > 0; missing--)
      store.create('pods', podOf(set, `${name}-${nameSuffix(random.next)}`, { [REVISION]: updateRevision }), BY)
    const status = {
      observedGeneration: set.metadata.generation ?? 0,
      replicas: pods.length,
      readyReplicas: pods.filter(isReady).length,
      availableReplicas: pods.filter(isReady).length,
      updatedReplicas: pods.filter(({ metadata }) => metadata.labels?.[REVISION] === updateRevision).length,
      updateRevision,
    }
    writeStatus(store, CLONES, set, status, BY)
  })
  return {
    onWrite(resource, { before, after }) {
      if (resource === CLONES) queue.add(keyOf((after ?? before)!))
      const owner = resource === 'pods' ? controllerOf(after ?? before) : undefined
      if (owner?.kind === CLONE_SET.kind) queue.add(`${(after ?? before)!.metadata.namespace}/${owner.name}`)
    },
  }
}

let cluster: EmbeddedCluster
let folder: string
const cleanups: (() => Promise<unknown>)[] = []

function podsNamed(app: string): Pod[] {
  const all = cluster.apiServer.store.list('pods', 'default') as Pod[]
  return all.filter(({ metadata }) => metadata.labels?.['app'] === app)
}

const imagesOf = (app: string) => podsNamed(app).map(({ spec }) => spec.containers[0]!.image)
const revisionsOf = (app: string) => new Set(podsNamed(app).map(({ metadata }) => metadata.labels?.[REVISION]))
const storedSet = (resource: string) => cluster.apiServer.store.get(resource, 'default', 'web') as WorkloadObject
const templateOf = (resource: string) => storedSet(resource).spec.template.spec.containers[0]!.image

/** Returns the holders of the present Leases, by the name of the Lease. */
function holders(): Map<string, string> {
  const leases = cluster.apiServer.store.list('leases.coordination.k8s.io', 'default')
  return new Map(leases.map(({ metadata, spec }) => [metadata.name, (spec as { holderIdentity?: string }).holderIdentity ?? '']))
}

function ledgersOf(run: string): { workloads: unknown; annotations: unknown } {
  const { metadata, data } = cluster.apiServer.store.get('configmaps', 'default', `sluice-run-${run}`)!
  const { workloads } = JSON.parse((data as { header: string }).header) as { workloads: unknown }
  return { workloads, annotations: metadata.annotations }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-kind-'))
  const apiVersion = `${CLONE_SET.group}/${CLONE_SET.version}`
  cluster = await startEmbeddedCluster({
    nodes: 2,
    images: Object.fromEntries(['v1', 'v2'].map((tag) => [`app:${tag}`, { digest: `sha256:${tag}` }])),
    customResources: [{ apiVersion, kind: CLONE_SET.kind, plural: CLONE_SET.plural }],
    controllers: [createCloneSetController],
  })
  await writeKubeconfig(join(folder, 'kubeconfig'), cluster.url)
  const containers = [{ name: 'app', image: 'app:v1', ports: [{ containerPort: PORT }], readinessProbe: { periodSeconds: 1 } }]
  const manifest = (of: { apiVersion: string; kind: string }, app: string) => ({
    ...of,
    metadata: { name: 'web' },
    spec: {
      replicas: 2,
      updateStrategy: { type: 'OnDelete' },
      selector: { matchLabels: { app } },
      template: { metadata: { labels: { app } }, spec: { terminationGracePeriodSeconds: 0, containers } },
    },
  })
  cluster.apply(
    manifest({ apiVersion, kind: CLONE_SET.kind }, 'clones'),
    manifest({ apiVersion: 'apps/v1', kind: 'StatefulSet' }, 'set'),
  )
  const areReady = () => {
    const all = [...podsNamed('clones'), ...podsNamed('set')]
    expect([all.length, all.every(isReady)]).toEqual([4, true])
  }
  await vi.waitFor(areReady, { timeout: 60_000, interval: 50 })
}, 90_000)

afterAll(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
  await cluster?.close()
  await rm(folder, { recursive: true, force: true })
})

async function balancerOf(app: string, jobMs: number): Promise<JobBalancer> {
  const servers = podsNamed(app).map(({ metadata: { name }, status }) => ({
    name,
    address: `${status!.podIP}:${PORT}`,
    state: 'ready',
  }))
  const balancer = await startJobBalancer({ servers, jobMs })
  cleanups.push(balancer.stop)
  return balancer
}

/** Opens a program with a load balancer of its own. By default, `known` has the kind of this file. */
async function program({ url }: JobBalancer, known = kinds): Promise<Sluice> {
  const path = '/servers/${target.id}'
  const options = {
    url,
    targets: { request: { path: '/servers' }, each: 'body.servers', id: 'entry.name', address: 'entry.address' },
    inspect: { admin: 'entry.state == "ready" ? "in" : "draining"', prior: '{"state": entry.state}' },
    drain: { method: 'PUT', path, body: { state: 'drain' }, expect: [202] },
    restore: { method: 'PUT', path, body: { state: '${prior.state}' }, expect: [202] },
  }
  const loadBalancers = [{ name: 'edge', adapter: 'http', port: PORT, options }]
  const config = await checkConfig({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers })
  const sluice = createSluice({ cluster: await connect({ kubeconfig: join(folder, 'kubeconfig') }), config, kinds: known })
  cleanups.push(() => sluice.close())
  return sluice
}

async function eventsOf(run: Run): Promise<RunEvent[]> {
  const events: RunEvent[] = []
  for await (const event of run.events) events.push(event)
  return events
}

test('a kind that is not known is refused: by its name, and by the owner of its pods', async () => {
  const sluice = await program(await balancerOf('clones', 10), KINDS)
  await expect(sluice.plan({ workload: 'clonesets.apps.example.dev/web' })).rejects.toThrow(/is no kind|cannot upgrade/)
  const { refusals } = await sluice.plan({ labelSelector: 'app=clones', images: { app: 'app:v2' } })
  expect(refusals.map(({ code }) => code)).toEqual(['unsupported-owner'])
})

test('it is upgraded, with the rights that are printed for it, while a StatefulSet of the same name is', async () => {
  const manifest = rbacManifest({
    workloads: [
      { kind: cloneSet, name: 'web' },
      { kind: statefulSet, name: 'web' },
    ],
    namespace: 'default',
    subject: { kind: 'User', name: 'deployer' },
    orders: false,
    loadBalancers: [],
    locks: [],
  })
  const role = parseAllDocuments(manifest).map((document) => document.toJS())[0] as {
    rules: { apiGroups: string[]; resources: string[]; resourceNames?: string[]; verbs: string[] }[]
  }
  cluster.apiServer.authorize((_by, { verb, group, resource, subresource, name }) => {
    const path = subresource === '' ? resource : `${resource}/${subresource}`
    const isNamed = (names?: string[]): boolean => names === undefined || names.includes(name)
    const isReview = group === 'authorization.k8s.io'
    return (
      isReview ||
      role.rules.some(
        (rule) =>
          rule.verbs.includes(verb) &&
          rule.apiGroups.includes(group) &&
          rule.resources.includes(path) &&
          isNamed(rule.resourceNames),
      )
    )
  })
  const [slow, fast] = [await balancerOf('clones', 1_000), await balancerOf('set', 10)]
  const [clones, set] = [await program(slow), await program(fast)]
  const images = { app: 'app:v2' }

  const plan = await clones.plan({ workload: 'clone/web', images })
  expect(plan.refusals).toEqual([])
  expect(plan.workloads).toEqual([{ ...CLONE_SET, name: 'web', namespace: 'default' }])
  expect(plan.templates).toMatchObject([{ change: [{ container: 'app', from: 'app:v1', to: 'app:v2' }] }])

  const begun = Promise.withResolvers<Run>()
  slow.onAccepted(() => begun.resolve(set.upgrade({ workload: 'statefulset/web', images })))
  const both = Promise.withResolvers<Map<string, string>>()
  fast.onAccepted(() => both.resolve(holders()))
  const ofClones = clones.upgrade({ workload: 'clonesets.apps.example.dev/web', images })
  const ofSet = await begun.promise
  const held = await both.promise
  const results = await Promise.all([ofClones.result, ofSet.result])
  expect(results.map(({ outcome }) => outcome)).toEqual(['done', 'done'])

  // Each run had a Lease of its own at once, and waited for no other.
  const [cloneLease, setLease] = ['sluice-cloneset.apps.example.dev-web', 'sluice-statefulset-web']
  expect([...held.keys()].toSorted()).toEqual([cloneLease, setLease].toSorted())
  expect(held.get(cloneLease)).not.toBe('')
  expect(held.get(setLease)).not.toBe('')
  expect(held.get(setLease)).not.toBe(held.get(cloneLease))
  const events = [...(await eventsOf(ofClones)), ...(await eventsOf(ofSet))]
  expect(events.filter(({ type }) => type === 'leaseWaiting')).toEqual([])

  expect([imagesOf('clones'), imagesOf('set')]).toEqual([
    ['app:v2', 'app:v2'],
    ['app:v2', 'app:v2'],
  ])
  expect([templateOf(CLONES), templateOf('statefulsets.apps')]).toEqual(['app:v2', 'app:v2'])
  expect(revisionsOf('clones')).toEqual(new Set([storedSet(CLONES).status!['updateRevision']]))
  const once = podsNamed('clones').flatMap(({ metadata: { name } }) => [`${name} drain 202`, `${name} ready 202`])
  expect(slow.writes.toSorted()).toEqual(once.toSorted())
  const [run] = results.map((result) => result.run)
  expect(ledgersOf(run!)).toEqual({
    workloads: [expect.objectContaining({ ...CLONE_SET, name: 'web', uid: storedSet(CLONES).metadata.uid })],
    annotations: { 'sluice.dev/workloads': 'clonesets.apps.example.dev/web' },
  })

  // By its kind, each run is found alone and goes back alone, with its template.
  cluster.apiServer.authorize(() => true)
  const known = await clones.status({ workload: 'clonesets.apps.example.dev/web' })
  expect(known.workloads.flatMap(({ runs }) => runs.map(({ id }) => id))).toEqual([run])
  const { report } = await clones.report({ workload: 'cloneset.apps.example.dev/web' })
  expect([report.run, report.workloads]).toEqual([run, ['clonesets.apps.example.dev/web']])
  const { outcome } = await clones.undo({ workload: 'clonesets.apps.example.dev/web' }).result
  expect([outcome, ...imagesOf('clones'), templateOf(CLONES)]).toEqual(['done', 'app:v1', 'app:v1', 'app:v1'])
  expect([...imagesOf('set'), templateOf('statefulsets.apps')]).toEqual(['app:v2', 'app:v2', 'app:v2'])
}, 120_000)
