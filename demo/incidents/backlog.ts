import type { Manifest } from '../../sim/cluster.ts'
import { NAMESPACE, WORKLOAD } from '../cluster/manifests.ts'
import type { Incident, Scene } from './incident.ts'

/** Services of other teams, which the controller syncs before those of the demo. The incident in production had 12,954. */
const OTHERS = 170
/** Services that select the pods of the demo. */
const OWN = 12
const WRITES_PER_S = 20
const PODS = 3

export const backlog: Incident = {
  name: 'backlog',
  symptom: 'A pod is gone, and for minutes requests go to its address. An hour later everything looks right.',
  cure: 'The job that labels Endpoints is stopped, so that the controller has nothing to write where no address changes.',
  expected: ['doctor endpoints-labels-differ', 'observe sweep', 'observe backlog', 'observe stale-address'],
  stage: {
    pods: PODS,
    embedded: { managesFields: true, servesEndpoints: true, behaviour: { endpointsPerSecond: WRITES_PER_S } },
  },
  followed: { service: WORKLOAD, object: 'endpoints' },
  async prepare(scene) {
    const { embedded } = scene.stage.cluster
    for (let index = 0; index < OTHERS; index++) embedded.apply(service(`other-${String(index).padStart(3, '0')}`, 'other'))
    for (let index = 1; index < OWN; index++) embedded.apply(service(`${WORKLOAD}-${String(index).padStart(2, '0')}`, WORKLOAD))
    await scene.until('all Endpoints are made', () => endpointsOf(scene).length === OTHERS + OWN)
  },
  async happen(scene, isCured) {
    const { embedded, pods } = scene.stage.cluster
    await scale(scene, PODS)
    await scene.until('the endpoints have all pods', () => haveAddresses(scene, PODS))
    await scene.until('all get requests', async () => (await allIn(scene)) === PODS)
    if (!isCured) {
      scene.say('A job puts a label of its own on all Endpoints.')
      for (const { metadata } of endpointsOf(scene))
        await scene.call('PATCH', `/endpoints/${metadata.name}`, 'inventory', { metadata: { labels: { inventory: 'seen' } } })
    }
    await scene.doctor()
    const observing = await scene.observe(['--grace', '2s'])
    await scene.underTraffic(async () => {
      scene.say(`The controller looks at all Services again, as it does some times a day; at that time ${pods[0]} goes.`)
      embedded.resyncEndpoints()
      await scale(scene, PODS - 1)
      await scene.until('the endpoints have followed', () => haveAddresses(scene, PODS - 1))
    })
    await observing.end()
  },
}

function service(name: string, app: string): Manifest {
  const spec = { clusterIP: 'None', ipFamilies: ['IPv4'], selector: { app }, ports: [{ name: 'http', port: 80, targetPort: 80 }] }
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: NAMESPACE }, spec }
}

interface Endpoints {
  metadata: { name: string }
  subsets?: { addresses?: unknown[] }[]
}

function endpointsOf({ stage }: Scene): Endpoints[] {
  return stage.cluster.embedded.apiServer.store.list('endpoints', NAMESPACE) as unknown as Endpoints[]
}

function haveAddresses(scene: Scene, count: number): boolean {
  const own = endpointsOf(scene).filter(({ metadata: { name } }) => name.startsWith(WORKLOAD))
  return own.every(({ subsets = [] }) => subsets.flatMap(({ addresses = [] }) => addresses).length === count)
}

async function allIn({ stage }: Scene): Promise<number> {
  return [...(await stage.balancer.look()).values()].filter(Boolean).length
}

async function scale({ stage }: Scene, replicas: number): Promise<void> {
  const metadata = { name: WORKLOAD, namespace: NAMESPACE }
  stage.cluster.embedded.apply({ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata, spec: { replicas } })
}
