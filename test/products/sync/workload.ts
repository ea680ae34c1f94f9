import type { ControlPlane, Json } from '../endpoints/control-plane.ts'
import { forEach } from '../endpoints/play.ts'

const AT = '2026-01-01T00:00:00Z'
const NODE = 'node-a'
export const PORT = 8080
export const NAMESPACE = 'shop'
const SLICES = `/apis/discovery.k8s.io/v1/namespaces/${NAMESPACE}/endpointslices`

/** Pods of a source cluster whose status the test writes, as a kubelet does. */
export interface Workload {
  /** Makes the namespace, a node, and a Service for each name, where they are missing. */
  makeServices(names: readonly string[]): Promise<void>
  makeService(name: string): Promise<void>
  deleteService(name: string): Promise<void>
  /** Makes `count` pods of a Service that are ready, beside those that it has. */
  makePods(service: string, count: number): Promise<void>
  setReady(pod: string, isReady: boolean, more?: Json): Promise<void>
  deletePod(pod: string): Promise<void>
  /** The names of the pods of a Service, with their state. */
  pods(service: string): Map<string, { address: string; isReady: boolean }>
  /** Forgets all pods, for a cluster that was wiped. */
  forget(): void
}

export const at = (of: string, name = ''): string => `/api/v1/namespaces/${NAMESPACE}/${of}${name === '' ? '' : `/${name}`}`

/** `network` is the second part of the addresses, different for each cluster. */
export function createWorkload(plane: Pick<ControlPlane, 'ask'>, network: number, hasNamespace = true): Workload {
  const all = new Map<string, Map<string, { address: string; isReady: boolean }>>()
  let made = 0

  function podOf(name: string): { address: string; isReady: boolean } {
    for (const own of all.values()) {
      const found = own.get(name)
      if (found !== undefined) return found
    }
    throw new Error(`no pod ${name}`)
  }

  async function setReady(name: string, isReady: boolean, more: Json = {}): Promise<void> {
    const pod = podOf(name)
    const status = isReady ? 'True' : 'False'
    const conditions = ['ContainersReady', 'Ready'].map((type) => ({ type, status, lastTransitionTime: AT }))
    const app = { name: 'app', ready: isReady, restartCount: 0, image: 'app:v1', imageID: 'sha256:1' }
    const containerStatuses = [{ ...app, containerID: `containerd://${name}`, state: { running: { startedAt: AT } } }]
    await plane.ask('PATCH', `${at('pods', name)}/status`, { status: { ...more, conditions, containerStatuses } })
    pod.isReady = isReady
  }

  async function make(path: string, object: Json): Promise<void> {
    await plane.ask('POST', path, object).catch((error: Error) => {
      if (!error.message.includes('AlreadyExists')) throw error
    })
  }

  async function makeService(name: string): Promise<void> {
    const ports = [{ name: 'http', port: 80, targetPort: PORT }]
    await make(at('services'), { metadata: { name }, spec: { selector: { app: name }, ports } })
    if (!all.has(name)) all.set(name, new Map())
  }

  return {
    async makeServices(names) {
      if (hasNamespace) await make('/api/v1/namespaces', { metadata: { name: NAMESPACE } })
      const labels = { 'topology.kubernetes.io/zone': 'zone-a' }
      await make('/api/v1/nodes', { metadata: { name: NODE, labels } })
      for (const name of names) await makeService(name)
    },
    makeService,
    async deleteService(name) {
      await plane.ask('DELETE', at('services', name))
      // As the garbage collector does, which the sources do not run.
      await plane.ask('DELETE', `${SLICES}?labelSelector=kubernetes.io/service-name=${name}`)
    },
    async makePods(service, count) {
      const numbers = Array.from({ length: count }, () => made++)
      const own = all.get(service)!
      await forEach(numbers, async (number) => {
        const [name, address] = [`${service}-${number}`, `10.${network}.${number >> 8}.${number & 255}`]
        const containers = [{ name: 'app', image: 'app:v1', ports: [{ containerPort: PORT }] }]
        const spec = { nodeName: NODE, containers }
        await plane.ask('POST', at('pods'), { metadata: { name, labels: { app: service } }, spec })
        own.set(name, { address, isReady: false })
        await setReady(name, true, { phase: 'Running', podIP: address, podIPs: [{ ip: address }], startTime: AT })
      })
    },
    setReady,
    async deletePod(name) {
      for (const own of all.values()) own.delete(name)
      await plane.ask('DELETE', `${at('pods', name)}?gracePeriodSeconds=0`)
    },
    pods: (service) => all.get(service)!,
    forget: () => all.clear(),
  }
}
