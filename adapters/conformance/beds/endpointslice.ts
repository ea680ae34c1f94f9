/** A bed of a Service without a selector on a real API server. `slice-front.ts` does the work of kube-proxy. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Adapter, Endpoint } from '../../contract.ts'
import { endpointslice } from '../../endpointslice/index.ts'
import type { Bed } from '../bed.ts'
import { startApiGateway } from './api-gateway.ts'
import type { KubernetesProcess } from './kubernetes-process.ts'
import { createTraffic, startPods } from './pods.ts'
import { startRestProxy } from './rest-proxy.ts'
import { type SliceObject, type SliceObjectEndpoint, startSliceFront } from './slice-front.ts'

const LIVE_PODS = 3
const PORT = 8080
const SERVICE = 'web'
const SLICE = 'web-1'
/** The annotation that the adapter writes. */
const MARK = 'sluice.dev/drained'

export async function makeEndpointsliceBed({
  servers,
  kubernetes,
}: {
  servers: number
  kubernetes: KubernetesProcess
}): Promise<Bed> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-endpointslice-'))
  const pods = await startPods(LIVE_PODS)
  // The cases send traffic only to the first three endpoints. The API server accepts no loopback address.
  const endpoints = Array.from({ length: servers }, (_, index): Endpoint => {
    const { uid, pod } = pods.endpoints[index] ?? { uid: `uid-silent-${index}`, pod: `silent-${index}` }
    return { uid, pod, address: `10.1.0.${index + 1}`, port: PORT }
  })
  const network = new Map(pods.endpoints.map((pod, index) => [`10.1.0.${index + 1}:${PORT}`, pod]))

  const { metadata } = (await kubernetes.ask('POST', '/api/v1/namespaces', { metadata: { generateName: 'bed-' } })) as SliceObject
  const namespace = metadata.name
  await kubernetes.ask('POST', `/api/v1/namespaces/${namespace}/services`, {
    metadata: { name: SERVICE },
    spec: { ports: [{ port: 80, targetPort: PORT }] },
  })
  const slices = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`
  const made = (await kubernetes.ask('POST', slices, {
    metadata: { name: SLICE, labels: { 'kubernetes.io/service-name': SERVICE } },
    addressType: 'IPv4',
    ports: [{ port: PORT }],
    endpoints: endpoints.map(({ address }) => ({ addresses: [address] })),
  })) as SliceObject

  const gateway = await startApiGateway(kubernetes, 'sluice')
  const wire = await startRestProxy(gateway.url)
  const front = await startSliceFront({ kubernetes, namespace, service: SERVICE, network })
  await front.hasTaken(made)
  const { request, hold } = createTraffic(front.address, pods)
  const adapters: Adapter[] = []

  function create(): Adapter {
    const kubeconfig = join(folder, 'kubeconfig')
    writeFileSync(kubeconfig, kubernetes.kubeconfig('sluice', wire.url), { mode: 0o600 })
    const options = endpointslice.options.parse({ namespace, service: SERVICE, kubeconfig, settle: '300ms' })
    const adapter = endpointslice.create(options, { name: 'edge' })
    adapters.push(adapter)
    return adapter
  }
  const read = async (): Promise<SliceObject> => (await kubernetes.ask('GET', `${slices}/${SLICE}`)) as SliceObject
  const at = (slice: SliceObject, { address }: Endpoint): SliceObjectEndpoint =>
    slice.endpoints.find(({ addresses }) => addresses[0] === address)!
  const marksOf = ({ metadata: { annotations } }: SliceObject): string[] => (annotations?.[MARK] ?? '').split(',')

  /** Changes the slice as an operator. Resolves when the front has taken the change. */
  async function set(endpoint: Endpoint, isReady: boolean, isMarked: boolean): Promise<void> {
    const slice = await read()
    at(slice, endpoint).conditions = isReady ? {} : { ready: false }
    const others = marksOf(slice).filter((address) => address !== '' && address !== endpoint.address)
    slice.metadata.annotations = { [MARK]: [...others, ...(isMarked ? [endpoint.address] : [])].join(',') }
    await front.hasTaken((await kubernetes.ask('PUT', `${slices}/${SLICE}`, slice)) as SliceObject)
  }

  return {
    adapter: create,
    endpoints,
    oracle: {
      /** The view of the front, once it has taken the slice. */
      async admin(endpoint) {
        const slice = await read()
        await front.hasTaken(slice)
        if (front.used().includes(`${endpoint.address}:${PORT}`)) return 'in'
        return marksOf(slice).includes(endpoint.address) ? 'draining' : 'out'
      },
    },
    operator: {
      maint: (endpoint) => set(endpoint, false, false),
      drain: (endpoint) => set(endpoint, false, true),
      ready: (endpoint) => set(endpoint, true, false),
    },
    // The bed has no keepAlive, because a kept connection stays with its pod as with kube-proxy: see endpointslice.test.ts.
    traffic: { request, hold },
    wire,
    absent: { id: '10.1.9.9:8080', scope: `${wire.url} ${namespace}/${SERVICE}` },
    restart: () => kubernetes.restart(),
    powerless() {
      gateway.become('reader')
      return create()
    },
    fencing: false,
    // Each call reads twice, each time with a new connection and handshake.
    shortDeadlineMs: 2_500,
    async close() {
      await Promise.all(adapters.map((adapter) => adapter.close()))
      for (const one of [front, wire, gateway, pods]) one.close()
      await kubernetes.ask('DELETE', `/api/v1/namespaces/${namespace}/services/${SERVICE}`)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
