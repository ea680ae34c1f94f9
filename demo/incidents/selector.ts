import { setTimeout as sleep } from 'node:timers/promises'
import { NAMESPACE } from '../cluster/manifests.ts'
import type { Incident, Scene } from './incident.ts'

const SERVICE = 'db'
const PERSON = 'kubectl-edit'
/** The durations of requests to the addresses, before and after the controller syncs the Service. */
const BEFORE_MS = 1_000
const AFTER_MS = 2_000

export const selector: Incident = {
  name: 'selector',
  symptom: 'Endpoints that were written by hand have worked for hours, and are empty now.',
  cure: 'The Service loses its selector, so that no controller of Kubernetes makes its endpoints.',
  expected: ['observe endpoints-by-hand', 'doctor endpoints-by-hand', 'explain written-by-other', 'explain selects-nothing'],
  stage: { pods: 0, embedded: { managesFields: true, servesEndpoints: true, behaviour: { endpointsPerSecond: 20 } } },
  followed: { service: SERVICE, object: 'endpoints' },
  async prepare(scene) {
    applyService(scene, { app: SERVICE })
    await scene.until('Endpoints are made', () => endpointsOf(scene) !== undefined)
  },
  async happen(scene, isCured) {
    scene.say(`Somebody writes the address of a database outside of the cluster into the Endpoints of service/${SERVICE}.`)
    await writeByHand(scene, isCured)
    await scene.until('requests get there', async () => (await scene.stage.balancer.look()).get(scene.outside.name) === true)
    const observing = await scene.observe([])
    await scene.doctor()
    await scene.explain(`service/${SERVICE}`)
    await scene.underTraffic(async () => {
      await sleep(BEFORE_MS)
      scene.say('The controller looks at all Services again, as after a restart.')
      scene.stage.cluster.embedded.resyncEndpoints()
      await sleep(AFTER_MS)
    })
    await observing.end()
    if (!isCured) await scene.explain(`service/${SERVICE}`)
  },
  async applyCure(scene) {
    applyService(scene, null)
    scene.stage.cluster.embedded.apiServer.store.remove('endpoints', NAMESPACE, SERVICE, PERSON)
    await scene.until('the slices of the controller are gone', () => slicesOf(scene).length === 0)
  },
}

function applyService({ stage }: Scene, wanted: Record<string, string> | null): void {
  const spec = {
    clusterIP: '10.96.0.9',
    ipFamilies: ['IPv4'],
    selector: wanted,
    ports: [{ name: 'http', port: 80, targetPort: stage.cluster.port }],
  }
  stage.cluster.embedded.apply({ apiVersion: 'v1', kind: 'Service', metadata: { name: SERVICE, namespace: NAMESPACE }, spec })
}

function endpointsOf({ stage }: Scene): unknown {
  return stage.cluster.embedded.apiServer.store.get('endpoints', NAMESPACE, SERVICE)
}

function slicesOf({ stage }: Scene): unknown[] {
  const slices = stage.cluster.embedded.apiServer.store.list('endpointslices.discovery.k8s.io', NAMESPACE)
  return slices.filter(({ metadata: { labels } }) => labels?.['kubernetes.io/service-name'] === SERVICE)
}

/**
 * Writes the address into the existing Endpoints. A Service without a selector has none, so the
 * Endpoints and an EndpointSlice are created.
 */
async function writeByHand(scene: Scene, isCured: boolean): Promise<void> {
  const { host, port } = scene.outside
  const subsets = [{ addresses: [{ ip: host }], ports: [{ name: 'http', port, protocol: 'TCP' }] }]
  if (!isCured) {
    await scene.call('PATCH', `/endpoints/${SERVICE}`, PERSON, { subsets })
    return
  }
  const endpoints = { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: SERVICE }, subsets }
  await scene.call('POST', '/endpoints', PERSON, endpoints)
  const labels = { 'kubernetes.io/service-name': SERVICE, 'endpointslice.kubernetes.io/managed-by': 'a-person' }
  await scene.call('POST', '/endpointslices', PERSON, {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `${SERVICE}-by-hand`, labels },
    addressType: 'IPv4',
    endpoints: [{ addresses: [host], conditions: { ready: true } }],
    ports: [{ name: 'http', port, protocol: 'TCP' }],
  })
}
