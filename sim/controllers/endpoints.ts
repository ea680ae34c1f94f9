import { isSameJson } from '../api-server/same-json.ts'
import type { KubeObject } from '../api-server/server.ts'
import { type Pod, isFinished, isReady } from '../kubelet/pod.ts'
import type { Controller, ControllerPorts } from './controller.ts'
import { matters } from './pod-change.ts'
import { createPacedQueue, keyOf, splitKey } from './queue.ts'
import { type Service, selects } from './service.ts'

const BY = 'endpoint-controller'
const RESOURCE = 'endpoints'
const HEADLESS = 'service.kubernetes.io/headless'
const MANAGED_BY = 'endpoints.kubernetes.io/managed-by'

interface Address {
  ip: string
  nodeName?: string
  targetRef: { kind: 'Pod'; namespace: string; name: string; uid: string }
}

interface Subset {
  addresses?: Address[]
  notReadyAddresses?: Address[]
  ports?: { name?: string; port: number; protocol: string }[]
}

interface Endpoints extends KubeObject {
  subsets?: Subset[]
}

export interface EndpointsController extends Controller {
  /** Looks at each Service again, in order, as the controller does after its restart and several times a day. */
  resync(): void
}

/**
 * Makes Endpoints of Services with a selector, one Service after another. A look takes no time. A write takes its share of a second, as
 * under the limit of the controller manager's client.
 */
export function createEndpointsController(ports: ControllerPorts, writesPerSecond: number): EndpointsController {
  const { store } = ports
  const queue = createPacedQueue(ports.clock, 1_000 / writesPerSecond, sync)

  /** Returns whether it has written. */
  function sync(key: string): boolean {
    const [namespace, name] = splitKey(key)
    const service = store.get('services', namespace, name) as Service | undefined
    const stored = store.get(RESOURCE, namespace, name) as Endpoints | undefined
    if (service === undefined) return stored !== undefined && store.remove(RESOURCE, namespace, name, BY) !== undefined
    if (service.spec.selector === undefined) return false
    const labels = labelsOf(service)
    const subsets = subsetsOf(service, store.list('pods', namespace) as Pod[])
    if (stored === undefined) {
      const metadata = { name, namespace, labels }
      store.create(RESOURCE, { apiVersion: 'v1', kind: 'Endpoints', metadata, ...(subsets.length > 0 ? { subsets } : {}) }, BY)
      return true
    }
    if (isSameJson(stored.subsets ?? [], subsets) && isSameJson(stored.metadata.labels ?? {}, labels)) return false
    const { apiVersion, kind, metadata } = stored
    const made = { apiVersion, kind, metadata: { ...metadata, labels }, ...(subsets.length > 0 ? { subsets } : {}) }
    store.update(RESOURCE, namespace, name, () => made, BY)
    return true
  }

  return {
    onWrite(resource, { before, after }) {
      // A foreign change of Endpoints goes unnoticed until the next sync of their Service.
      if (resource === 'services' || (resource === RESOURCE && after === undefined)) queue.add(keyOf((after ?? before)!))
      if (resource !== 'pods' || !matters(before as Pod | undefined, after as Pod | undefined)) return
      const pods = [before, after].filter((pod) => pod !== undefined)
      for (const service of store.list('services', pods[0]!.metadata.namespace) as Service[]) {
        if (pods.some((pod) => selects(service, pod as Pod))) queue.add(keyOf(service))
      }
    },
    resync() {
      for (const service of store.list('services')) queue.add(keyOf(service))
    },
  }
}

function labelsOf({ metadata: { labels = {} }, spec: { clusterIP } }: Service): Record<string, string> {
  const { [HEADLESS]: _, ...own } = labels
  return { ...own, ...(clusterIP === 'None' ? { [HEADLESS]: '' } : {}), [MANAGED_BY]: BY }
}

function subsetsOf(service: Service, pods: readonly Pod[]): Subset[] {
  const own = pods.filter(
    (pod) =>
      selects(service, pod) &&
      pod.status?.podIP !== undefined &&
      !isFinished(pod) &&
      (pod.metadata.deletionTimestamp === undefined || service.spec.publishNotReadyAddresses === true),
  )
  if (own.length === 0) return []
  const isIn = (pod: Pod): boolean => service.spec.publishNotReadyAddresses === true || isReady(pod)
  const [addresses, notReadyAddresses] = [own.filter(isIn), own.filter((pod) => !isIn(pod))].map((some) => some.map(addressOf))
  const ports = (service.spec.ports ?? []).map(({ name, targetPort, port, protocol }) => ({
    ...(name === undefined ? {} : { name }),
    port: typeof targetPort === 'number' ? targetPort : port,
    protocol: protocol ?? 'TCP',
  }))
  return [
    {
      ...(addresses!.length > 0 ? { addresses: addresses! } : {}),
      ...(notReadyAddresses!.length > 0 ? { notReadyAddresses: notReadyAddresses! } : {}),
      ...(ports.length > 0 ? { ports } : {}),
    },
  ]
}

function addressOf({ metadata: { name, namespace = 'default', uid }, spec: { nodeName }, status }: Pod): Address {
  return {
    ip: status!.podIP!,
    ...(nodeName === undefined ? {} : { nodeName }),
    targetRef: { kind: 'Pod', namespace, name, uid },
  }
}
