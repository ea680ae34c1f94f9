import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeContexts } from '../../sim/http/kubeconfig.ts'
import { readPods } from '../acts/home.ts'
import { type Gate, openGate } from '../cluster/gate.ts'
import { CONTAINER, imageOf, NAMESPACE, WORKLOAD } from '../cluster/manifests.ts'
import { hasAddressPerPod } from '../cluster/start.ts'
import { DemoError } from '../demo-error.ts'
import { watchAddresses } from '../rotation/address-changes.ts'
import { configIn, writeConfig } from '../stage.ts'
import type { Incident, Scene, Traffic } from './incident.ts'
import type { Syncing } from './tools.ts'

const SLICES = 'endpointslices.discovery.k8s.io'
const [SOURCE, ACCESS] = ['east', 'access']
/** The way by which sync reaches the source. */
const SYNC_KUBECONFIG = 'east.kubeconfig'
/** Copies of a source that is away go after this time, above the floor. An operator would write some minutes. */
const EXPIRE_AFTER = '1s'

interface Running {
  gate: Gate
  syncing: Syncing
}

const running = new WeakMap<Scene, Running>()

export const sync: Incident = {
  name: 'sync',
  symptom:
    'An ingress serves pods of another cluster. Requests fail at each release, and all of them when that cluster is away for a moment.',
  cure: 'sluice upgrades the pods: they leave the copies by their journal, before they restart. A floor keeps the copies of a source that is away.',
  expected: ['observe restarted-in-rotation', 'sync source-expired'],
  stage: { pods: 2 },
  hasAccessCluster: true,
  followed: { service: WORKLOAD, object: 'endpointslices', everyMs: 500 },
  async prepare(scene) {
    // The copies have no pods: the load balancer finds a server by its address.
    if (!hasAddressPerPod)
      throw new DemoError('the incident sync needs an address for each pod, which only Linux has for processes')
    const { stage, folder } = scene
    const { embedded, kubeconfig } = stage.cluster
    const access = accessOf(scene)
    for (const cluster of [embedded, access]) cluster.apply(namespace('kube-system'))
    access.apply(namespace(NAMESPACE))
    const gate = await openGate(embedded.url)
    await writeContexts(kubeconfig, { [SOURCE!]: embedded.url, [ACCESS!]: access.url })
    await writeContexts(join(folder, SYNC_KUBECONFIG), { [SOURCE!]: gate.url })
    writeConfig(configIn(folder), stage.balancer.followingConfig)
    running.set(scene, { gate, syncing: startSync(scene, 0) })
    await scene.until('the copies are made', () => copiesOf(scene) === stage.cluster.pods.length)
  },
  async happen(scene, isCured) {
    const { gate, syncing } = running.get(scene)!
    await scene.until('all get requests', () => getRequests(scene))
    const observing = await scene.observe(['--context', SOURCE!, '--context', ACCESS!])
    const stopMeasuring = measureCopies(scene)
    const release = await scene.underTraffic(async () => {
      if (isCured) return scene.upgrade([`statefulset/${WORKLOAD}`, `${CONTAINER}=${imageOf(3)}`])
      scene.say('A script patches a pod, waits until its new container is Ready and gets requests, and goes on.')
      await patchOneByOne(scene)
    })
    stopMeasuring()
    await observing.end()
    scene.say(`${told(release)} while the pods were upgraded.`)
    const absence = await scene.underTraffic(async () => {
      scene.say(`The API server of the cluster ${SOURCE} is away. Its pods serve on.`)
      gate.cut()
      if (isCured) await scene.until('the floor keeps the copies', () => syncing.told().has('kept-for-floor'))
      else await scene.until('the copies are gone', async () => copiesOf(scene) === 0 && !(await getsAny(scene)))
      gate.restore()
      scene.say('It is back.')
      await scene.until('the copies are there', () => copiesOf(scene) === scene.stage.cluster.pods.length)
      await scene.until('all get requests', () => getRequests(scene))
    })
    scene.say(`${told(absence)} while the cluster was away.`)
  },
  async applyCure(scene) {
    const now = running.get(scene)!
    await now.syncing.end()
    now.syncing = startSync(scene, 1)
  },
  async end(scene) {
    const { gate, syncing } = running.get(scene)!
    await syncing.end()
    await gate.close()
  },
}

function startSync(scene: Scene, floor: number): Syncing {
  const file = join(scene.folder, 'sluice-sync.yaml')
  const whenAway = `{expireAfter: ${EXPIRE_AFTER}, floor: ${floor}}`
  scene.say(`Services are copied from ${SOURCE} to ${ACCESS}, with whenAway: ${whenAway}.`)
  writeFileSync(
    file,
    `apiVersion: sluice.dev/v1
kind: SyncConfig
access: {kubeconfig: kubeconfig, context: ${ACCESS}}
sources:
  - {name: ${SOURCE}, kubeconfig: ${SYNC_KUBECONFIG}}
services:
  - {namespace: ${NAMESPACE}, name: ${WORKLOAD}, create: true, whenAway: ${whenAway}}
`,
  )
  return scene.sync(file)
}

function told({ requests, failed }: Traffic): string {
  return `${failed} of ${requests} requests failed`
}

function accessOf({ access }: Scene): NonNullable<Scene['access']> {
  if (access === undefined) throw new Error('demo: the incident sync has an access cluster')
  return access
}

function namespace(name: string) {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
}

/** The number of copies that are ready. */
function copiesOf(scene: Scene): number {
  const slices = accessOf(scene).apiServer.store.list(SLICES, NAMESPACE)
  const endpoints = slices.flatMap((slice) => (slice['endpoints'] ?? []) as { conditions: { ready: boolean } }[])
  return endpoints.filter(({ conditions }) => conditions.ready).length
}

async function getRequests({ stage }: Scene): Promise<boolean> {
  return [...(await stage.balancer.look()).values()].every(Boolean)
}

async function getsAny({ stage }: Scene): Promise<boolean> {
  return [...(await stage.balancer.look()).values()].some(Boolean)
}

async function patchOneByOne(scene: Scene): Promise<void> {
  const { stage } = scene
  const { api, pods } = stage.cluster
  const before = await readPods(stage)
  for (const pod of pods) {
    await api.patchImage(pod, imageOf(2))
    await scene.until(`${pod} is back`, async () => {
      const { isReady, containerId } = await api.read(pod)
      const isNew = containerId !== '' && containerId !== before.get(pod)!.containerId
      return isReady && isNew && copiesOf(scene) === pods.length && getRequests(scene)
    })
  }
}

/** Notes for each pod how long after its condition Ready its copy has ceased to be ready. Returns the function that ends it. */
function measureCopies(scene: Scene): () => void {
  const { embedded, pods, endpointOf } = scene.stage.cluster
  const leftAt = { pod: new Map<string, number>(), copy: new Map<string, number>() }

  function left(what: keyof typeof leftAt, pod: string): void {
    if (leftAt[what].has(pod)) return
    leftAt[what].set(pod, performance.now())
    const [podAt, copyAt] = [leftAt.pod.get(pod), leftAt.copy.get(pod)]
    if (podAt !== undefined && copyAt !== undefined) scene.noteCopyLag(copyAt - podAt)
  }

  const ends = [
    embedded.apiServer.store.subscribe((resource, { after }) => {
      const conditions = (after?.['status'] as { conditions?: { type: string; status: string }[] } | undefined)?.conditions
      const isLost = conditions?.some(({ type, status }) => type === 'Ready' && status === 'False') === true
      if (resource === 'pods' && isLost) left('pod', after!.metadata.name)
    }),
    watchAddresses(accessOf(scene).apiServer, NAMESPACE, ({ address, isReady }) => {
      const pod = pods.find((one) => endpointOf(one).host === address)
      if (pod !== undefined && !isReady) left('copy', pod)
    }),
  ]
  return () => ends.forEach((end) => end())
}
