import type { KubeObject } from '../api-server/server.ts'
import type { Range } from '../kubelet/delays.ts'
import { type Pod, isFinished, isReady } from '../kubelet/pod.ts'
import { isSameJson } from '../api-server/same-json.ts'
import type { Controller, ControllerPorts } from './controller.ts'
import { matters } from './pod-change.ts'
import { createQueue, keyOf, splitKey } from './queue.ts'
import { type Service, selects } from './service.ts'
import { nameSuffix, ownerReference } from './workload.ts'

const BY = 'endpointslice-controller'
const RESOURCE = 'endpointslices.discovery.k8s.io'
const SERVICE = 'kubernetes.io/service-name'
const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by'
const CONTROLLER = 'endpointslice-controller.k8s.io'
const HEADLESS = 'service.kubernetes.io/headless'
const PER_SLICE = 100

interface Endpoint {
  addresses: string[]
  conditions: { ready: boolean; serving: boolean; terminating: boolean }
  nodeName?: string
  targetRef: { kind: 'Pod'; namespace: string; name: string; uid: string }
}

interface Slice extends KubeObject {
  endpoints: Endpoint[]
}

/** Makes EndpointSlices of Services with a selector. `lag` is the delay from the status of a pod to its endpoint. */
export function createEndpointSliceController(ports: ControllerPorts, lag: Range): Controller {
  const { store, random } = ports
  const queue = createQueue(ports, lag, sync)

  function sync(key: string): void {
    const [namespace, name] = splitKey(key)
    const service = store.get('services', namespace, name) as Service | undefined
    const slices = slicesOf(namespace, name)
    if (service?.spec.selector === undefined) {
      for (const { metadata } of slices) store.remove(RESOURCE, namespace, metadata.name, BY)
      return
    }
    const missing = new Map<string, Endpoint>()
    for (const pod of store.list('pods', namespace) as Pod[]) {
      const endpoint = selects(service, pod) ? endpointOf(service, pod) : undefined
      if (endpoint !== undefined) missing.set(pod.metadata.uid, endpoint)
    }
    for (const slice of slices) {
      const endpoints = slice.endpoints.flatMap(({ targetRef: { uid } }) => {
        const endpoint = missing.get(uid)
        missing.delete(uid)
        return endpoint === undefined ? [] : [endpoint]
      })
      while (endpoints.length < PER_SLICE && missing.size > 0) {
        const [uid, endpoint] = missing.entries().next().value!
        missing.delete(uid)
        endpoints.push(endpoint)
      }
      const labels = labelsOf(service)
      if (!isSameJson(slice.endpoints, endpoints) || !isSameJson(slice.metadata.labels, labels)) {
        const changed = (now: KubeObject): KubeObject => ({ ...now, metadata: { ...now.metadata, labels }, endpoints })
        store.update(RESOURCE, namespace, slice.metadata.name, changed, BY)
      }
    }
    const rest = [...missing.values()]
    while (rest.length > 0 || (slices.length === 0 && rest.length === 0)) {
      create(service, rest.splice(0, PER_SLICE))
      if (slices.length === 0 && rest.length === 0) break
    }
  }

  function create(service: Service, endpoints: Endpoint[]): void {
    const { name, namespace = 'default' } = service.metadata
    store.create(
      RESOURCE,
      {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: {
          name: `${name}-${nameSuffix(() => random.next())}`,
          namespace,
          labels: labelsOf(service),
          ownerReferences: [ownerReference(service)],
        },
        addressType: 'IPv4',
        endpoints,
        ports: (service.spec.ports ?? []).map(({ name: port, targetPort, port: number, protocol }) => ({
          name: port ?? '',
          port: typeof targetPort === 'number' ? targetPort : number,
          protocol: protocol ?? 'TCP',
        })),
      },
      BY,
    )
  }

  /** Returns the slices of this controller. Another controller may keep slices for the same Service. */
  function slicesOf(namespace: string, name: string): Slice[] {
    const all = store.list(RESOURCE, namespace) as Slice[]
    return all.filter(({ metadata: { labels } }) => labels?.[SERVICE] === name && labels[MANAGED_BY] === CONTROLLER)
  }

  return {
    onWrite(resource, { before, after }) {
      if (resource === 'services') queue.add(keyOf((after ?? before)!))
      if (resource !== 'pods' || !matters(before as Pod | undefined, after as Pod | undefined)) return
      const pods = [before, after].filter((pod) => pod !== undefined)
      for (const service of store.list('services', pods[0]!.metadata.namespace) as Service[]) {
        if (pods.some((pod) => selects(service, pod as Pod))) queue.add(keyOf(service))
      }
    },
  }
}

/** Returns the labels of a slice: the labels of the Service, and the labels of the controller. */
function labelsOf({ metadata: { name, labels = {} }, spec: { clusterIP } }: Service): Record<string, string> {
  const { [HEADLESS]: _, ...own } = labels
  return { ...own, ...(clusterIP === 'None' ? { [HEADLESS]: '' } : {}), [SERVICE]: name, [MANAGED_BY]: CONTROLLER }
}

function endpointOf({ spec }: Service, pod: Pod): Endpoint | undefined {
  const address = pod.status?.podIP
  if (address === undefined || isFinished(pod)) return undefined
  const terminating = pod.metadata.deletionTimestamp !== undefined
  const serving = spec.publishNotReadyAddresses === true || isReady(pod)
  const { name, namespace = 'default', uid } = pod.metadata
  return {
    addresses: [address],
    conditions: { ready: spec.publishNotReadyAddresses === true || (serving && !terminating), serving, terminating },
    ...(pod.spec.nodeName === undefined ? {} : { nodeName: pod.spec.nodeName }),
    targetRef: { kind: 'Pod', namespace, name, uid },
  }
}
