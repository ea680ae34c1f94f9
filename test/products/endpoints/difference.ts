import { SLICE_CONTROLLER } from '../../../src/endpoints/endpoint-labels.ts'
import type { ServiceEndpoints } from '../../../src/endpoints/service-endpoints.ts'
import type { Node, Pod, Service } from '../../../src/endpoints/objects.ts'
import type { Json } from './control-plane.ts'

/** All objects of one namespace, and the nodes. */
export interface Snapshot {
  readonly services: readonly Service[]
  readonly pods: readonly Pod[]
  readonly nodes: readonly Node[]
  readonly slices: readonly Json[]
  readonly endpoints: readonly Json[]
}

/** A function that computes the endpoints of a Service: src/endpoints itself, or with a planted error. */
export type Model = (service: Service, snapshot: Snapshot) => ServiceEndpoints

/** Returns the differences between controllers and model: `+` exists in the controllers only, `-` in the model only. */
export function difference(snapshot: Snapshot, of: Model): string[] {
  return snapshot.services.flatMap((service) => {
    const real = [...realSlices(service, snapshot.slices), ...realEndpoints(service, snapshot.endpoints)]
    const expected = expectedLines(of(service, snapshot))
    const name = `${service.metadata.namespace}/${service.metadata.name}`
    return [
      ...without(real, expected).map((line) => `+ ${name}: ${line}`),
      ...without(expected, real).map((line) => `- ${name}: ${line}`),
    ]
  })
}

/** Returns the lines that one list has more often than the other. */
function without(lines: readonly string[], others: readonly string[]): string[] {
  const left = [...others]
  return lines.filter((line) => {
    const at = left.indexOf(line)
    if (at !== -1) left.splice(at, 1)
    return at === -1
  })
}

function realSlices({ metadata: { name } }: Service, all: readonly Json[]): string[] {
  const own = all.filter(
    ({ metadata: { labels = {} } }) =>
      labels['kubernetes.io/service-name'] === name && labels['endpointslice.kubernetes.io/managed-by'] === SLICE_CONTROLLER,
  )
  return own.flatMap(({ addressType, endpoints, ports, metadata }) => {
    const others = own.filter((one) => one !== undefined && one.addressType === addressType)
    // An empty slice may be left beside slices with endpoints.
    const isLeft = (endpoints ?? []).length === 0 && others.some((one) => (one.endpoints ?? []).length > 0)
    return isLeft ? [] : sliceLines(addressType, ports ?? [], endpoints ?? [], metadata.labels)
  })
}

function sliceLines(type: string, ports: readonly Json[], endpoints: readonly Json[], labels: object): string[] {
  const head = `slice ${type} ${portsText(ports)} labels ${sorted(labels)}`
  if (endpoints.length === 0) return [`${head}: empty`]
  return endpoints.map(({ targetRef, addresses, conditions, hostname, nodeName, zone }) => {
    const { ready, serving, terminating } = conditions
    const facts = { addresses, ready, serving, terminating, hostname, nodeName, zone, targetRef }
    return `${head}: ${targetRef.name} ${sorted(facts)}`
  })
}

function realEndpoints({ metadata: { name } }: Service, all: readonly Json[]): string[] {
  const own = all.find(({ metadata }) => metadata.name === name)
  if (own === undefined) return []
  const isTruncated = own.metadata.annotations?.['endpoints.kubernetes.io/over-capacity'] === 'truncated'
  return endpointsLines(own.metadata.labels ?? {}, own.subsets ?? [], isTruncated)
}

function endpointsLines(labels: object, subsets: readonly Json[], isTruncated: boolean): string[] {
  return [
    `Endpoints labels ${sorted(labels)}${isTruncated ? ', truncated' : ''}`,
    ...subsets.flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }) => {
      const line =
        (ready: boolean) =>
        ({ ip, hostname, nodeName, targetRef }: Json) =>
          `Endpoints ${portsText(ports)}: ${targetRef.name} ${sorted({ ip, ready, hostname, nodeName, targetRef })}`
      return [...(addresses ?? []).map(line(true)), ...(notReadyAddresses ?? []).map(line(false))]
    }),
  ]
}

function expectedLines({ made }: ServiceEndpoints): string[] {
  if (made === undefined) return []
  const { slices, endpoints } = made
  return [
    ...slices.groups.flatMap(({ addressType, ports, endpoints: some }) => sliceLines(addressType, ports, some, slices.labels)),
    ...endpointsLines(endpoints.labels, endpoints.subsets, endpoints.truncation !== undefined),
  ]
}

/** Formats ports. An absent name counts as empty. */
function portsText(ports: readonly Json[]): string {
  return `[${ports
    .map(({ name = '', port, protocol, appProtocol }) => sorted({ name, port, protocol, appProtocol }))
    .toSorted()
    .join(' ')}]`
}

function sorted(value: object): string {
  const entries = Object.entries(value).filter(([, one]) => one !== undefined)
  const own = entries.toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${own.map(([key, one]) => `${key}: ${isObject(one) ? sorted(one) : JSON.stringify(one)}`).join(', ')}}`
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
