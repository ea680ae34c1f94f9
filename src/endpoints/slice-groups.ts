import { addressesOf, addressTypesOf } from './addresses.ts'
import type { ControllerRules } from './controller-rules.ts'
import type { AddressType, EndpointPort, Node, Pod, PodReference, Service, SliceEndpoint, SliceGroup } from './objects.ts'
import { slicePortsOf } from './ports.ts'
import { isReady } from './readiness.ts'

/** The objects that the endpoints of a Service are made from. */
export interface EndpointSource {
  readonly service: Service
  /** The nodes, by name. */
  readonly nodes: ReadonlyMap<string, Node>
  readonly rules: ControllerRules
}

/** The controller leaves out a pod of an unknown node for now, unless the Service publishes addresses that are not ready. */
export function isOnKnownNode({ service, nodes }: EndpointSource, { spec: { nodeName = '' } }: Pod): boolean {
  return nodes.has(nodeName) || service.spec.publishNotReadyAddresses === true
}

/** Makes the slices. `pods` are those that the Service selects, that have an address, and that have not finished. */
export function sliceGroupsOf(source: EndpointSource, pods: readonly Pod[]): SliceGroup[] {
  const known = pods
    .filter((pod) => isOnKnownNode(source, pod))
    .map((pod) => ({ pod, ports: slicePortsOf(source.service, pod, source.rules).found }))
  const byPorts = Map.groupBy(known, ({ ports }) => portsKey(ports))
  return addressTypesOf(source.service).flatMap((addressType) => {
    const groups = [...byPorts.values()].map((some) => ({
      addressType,
      ports: some[0]!.ports,
      endpoints: some.flatMap(({ pod }) => endpointOf(source, pod, addressType)),
    }))
    const filled = groups.filter(({ endpoints }) => endpoints.length > 0)
    return filled.length > 0 ? filled : [{ addressType, ports: [], endpoints: [] }]
  })
}

export function referenceTo({ metadata: { namespace, name, uid } }: Pod): PodReference {
  return { kind: 'Pod', namespace, name, uid }
}

/** The pod has a DNS name below the Service. */
export function hasHostname({ metadata: { name } }: Service, { spec: { hostname, subdomain } }: Pod): boolean {
  return Boolean(hostname) && subdomain === name
}

/** The key of a set of ports. Keys are equal exactly where the sets are. */
export function portsKey(ports: readonly EndpointPort[]): string {
  return ports
    .map(({ name, port, protocol, appProtocol }) => JSON.stringify([name, port, protocol, appProtocol]))
    .toSorted()
    .join()
}

function endpointOf({ service, nodes, rules }: EndpointSource, pod: Pod, addressType: AddressType): SliceEndpoint[] {
  const addresses = addressesOf(pod, addressType, rules)
  if (addresses.length === 0) return []
  const { nodeName, hostname } = pod.spec
  const zone = nodes.get(nodeName ?? '')?.metadata.labels?.['topology.kubernetes.io/zone']
  const [serving, terminating] = [isReady(pod), pod.metadata.deletionTimestamp !== undefined]
  const ready = service.spec.publishNotReadyAddresses === true || (serving && !terminating)
  return [
    {
      addresses,
      conditions: { ready, serving, terminating },
      ...(hostname && hasHostname(service, pod) ? { hostname } : {}),
      ...(nodeName ? { nodeName } : {}),
      ...(zone ? { zone } : {}),
      targetRef: referenceTo(pod),
    },
  ]
}
