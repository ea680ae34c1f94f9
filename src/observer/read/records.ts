import { OVER_CAPACITY, TRIGGER_TIME } from '../../endpoints/endpoint-labels.ts'
import { parseEndpoints, parseNode, parsePod, parseService, parseSlice } from '../../endpoints/parse-objects.ts'
import { readyOf } from '../../endpoints/readiness.ts'
import type { ManagedFields, StoredAddress, StoredEndpoint } from '../../endpoints/stored.ts'
import { conditionsOf, isByController, serviceNameOf } from '../../endpoints/stored-slices.ts'
import { addressWriterOf, ENDPOINTS_CONTROLLER_WRITES, lastWriterOf, SLICE_CONTROLLER_WRITES } from '../../endpoints/writers.ts'
import type { Container, Service } from '../../endpoints/objects.ts'
import { endpointPortsDigest } from './ports-digest.ts'
import { journalOf } from '../../journal/journal.ts'
import { podView } from '../../pods/view.ts'
import type { PodView } from '../../pods/glossary.ts'
import type { SeenAddress, SeenEndpoints, SeenNode, SeenPod } from '../events.ts'

/* Objects of the API, reduced to the fields that are observed. */

export interface Kept<Seen> {
  uid: string
  name: string
  namespace: string
  resourceVersion: string
  seen: Seen
}

/** The fields of a pod by which a load balancer finds the entries of the pod. */
export type Listener = Pick<
  PodView,
  'uid' | 'name' | 'ip' | 'otherIps' | 'hostIps' | 'hostNetwork' | 'containers' | 'sidecarPorts'
>

interface KeptPod extends Kept<SeenPod> {
  listener: Listener
}

interface Meta {
  metadata: {
    uid?: string
    name: string
    namespace?: string
    resourceVersion?: string
    annotations?: Record<string, string>
    labels?: Readonly<Record<string, string>>
    managedFields?: readonly ManagedFields[]
  }
}

export function keptPod(raw: unknown): KeptPod {
  const pod = parsePod(raw)
  const view = podView(raw)
  const { name, namespace, uid, labels, deletionTimestamp } = pod.metadata
  const { nodeName, hostNetwork, hostname, subdomain, restartPolicy, containers, initContainers, readinessGates } = pod.spec
  const { phase, podIP, podIPs, conditions = [], containerStatuses = [] } = pod.status ?? {}
  const gates = new Set((readinessGates ?? []).map(({ conditionType }) => conditionType))
  const seen: SeenPod = defined({
    metadata: defined({ name, namespace, uid, labels, deletionTimestamp }),
    spec: defined({
      nodeName,
      hostNetwork,
      hostname,
      subdomain,
      restartPolicy,
      containers: containers.map(container),
      initContainers: initContainers?.map(container),
      readinessGates: readinessGates?.map(({ conditionType }) => ({ conditionType })),
    }),
    status: defined({
      phase,
      podIP,
      podIPs: podIPs?.map(({ ip }) => defined({ ip })),
      conditions: conditions
        .filter(({ type }) => type === 'Ready' || type === 'ContainersReady' || gates.has(type))
        .map(({ type, status, reason, message, lastTransitionTime }) =>
          defined({ type, status, reason, message, lastTransitionTime }),
        ),
      containerStatuses: containerStatuses.map((one) => {
        const waiting = one.state?.waiting?.reason
        const known = view.containers.find(({ name: own }) => own === one.name)
        return defined({
          name: one.name,
          ready: one.ready,
          ...(waiting === undefined ? {} : { state: { waiting: { reason: waiting } } }),
          ...(known === undefined ? {} : { restartCount: known.restartCount }),
          ...(known?.running === false ? { isStopped: true } : {}),
        })
      }),
    }),
    ...(isDrained(view) ? { isDrained: true } : {}),
  })
  const { ip, otherIps, hostIps, sidecarPorts } = view
  const listener = defined({
    uid,
    name,
    ip,
    otherIps,
    hostIps,
    hostNetwork: view.hostNetwork,
    containers: view.containers,
    sidecarPorts,
  })
  return { ...identity(pod), seen, listener }
}

function isDrained(view: PodView): boolean {
  const read = journalOf(view)
  return read.kind === 'read' && read.journal.step !== 'closed' && read.journal.targets.length > 0
}

export function keptService(raw: unknown): Kept<Service> {
  const service = parseService(raw)
  const { name, namespace, uid, labels } = service.metadata
  const { type, clusterIP, ipFamilies, selector, ports, publishNotReadyAddresses } = service.spec
  const seen: Service = {
    metadata: defined({ name, namespace, uid, labels }),
    spec: defined({
      type,
      clusterIP,
      ipFamilies,
      selector,
      ports: ports?.map((one) => {
        const { name: portName, port, protocol, targetPort, appProtocol } = one
        return defined({ name: portName, port, protocol, targetPort, appProtocol })
      }),
      publishNotReadyAddresses,
    }),
  }
  return { ...identity(service), seen }
}

export function keptNode(raw: unknown): Kept<SeenNode> {
  const node = parseNode(raw)
  const status = node.status as { addresses?: readonly { address: string }[] } | undefined
  const ready = readyOf(node)?.status ?? 'Unknown'
  const addresses = (status?.addresses ?? []).map(({ address }) => address)
  return { ...identity(node), seen: { metadata: { name: node.metadata.name }, ready, addresses } }
}

export function keptSlice(raw: unknown): Kept<SeenEndpoints> {
  const slice = parseSlice(raw)
  const { managedFields } = slice.metadata
  const addresses = (slice.endpoints ?? []).flatMap((endpoint) =>
    endpoint.addresses.map((address): SeenAddress => ({
      address,
      ...conditionsOf(endpoint),
      ...podOfReference(endpoint.targetRef),
    })),
  )
  const by = addressWriterOf('EndpointSlice', managedFields, addresses.length === 0)
  const lastBy = lastWriterOf(managedFields, SLICE_CONTROLLER_WRITES)
  return {
    ...identity(slice),
    seen: {
      ...objectOf(slice),
      kind: 'EndpointSlice',
      service: serviceNameOf(slice) ?? slice.metadata.name,
      isControllers: isByController(slice),
      addresses,
      ports: endpointPortsDigest(slice.ports ?? []),
      ...hintsOf(slice.endpoints ?? []),
      ...(by === undefined ? {} : { by }),
      ...(lastBy === undefined || lastBy.manager === by?.manager ? {} : { lastBy }),
    },
  }
}

export function keptEndpoints(raw: unknown): Kept<SeenEndpoints> {
  const endpoints = parseEndpoints(raw)
  const { subsets = [], metadata } = endpoints
  const from = (some: readonly StoredAddress[], ready: boolean): SeenAddress[] =>
    some.map(({ ip, targetRef }) => ({ address: ip, ready, ...podOfReference(targetRef) }))
  const addresses = subsets.flatMap((one) => [...from(one.addresses ?? [], true), ...from(one.notReadyAddresses ?? [], false)])
  const by = addressWriterOf('Endpoints', metadata.managedFields, addresses.length === 0)
  const lastBy = lastWriterOf(metadata.managedFields, ENDPOINTS_CONTROLLER_WRITES)
  const isTruncated = (endpoints as Meta).metadata.annotations?.[OVER_CAPACITY] === 'truncated'
  return {
    ...identity(endpoints),
    seen: {
      ...objectOf(endpoints),
      kind: 'Endpoints',
      service: metadata.name,
      isControllers: true,
      addresses,
      ports: subsets.map((one) => endpointPortsDigest((one as { ports?: object[] }).ports ?? [])).join(';'),
      ...(isTruncated ? { isTruncated } : {}),
      ...(by === undefined ? {} : { by }),
      ...(lastBy === undefined || lastBy.manager === by?.manager ? {} : { lastBy }),
    },
  }
}

function objectOf(object: Meta): Pick<SeenEndpoints, 'uid' | 'resourceVersion' | 'namespace' | 'name' | 'triggerAt' | 'labels'> {
  const { annotations, labels } = object.metadata
  const triggerAt = annotations?.[TRIGGER_TIME]
  return { ...identity(object), ...(triggerAt === undefined ? {} : { triggerAt }), ...(labels === undefined ? {} : { labels }) }
}

function hintsOf(endpoints: readonly StoredEndpoint[]): Pick<SeenEndpoints, 'hints'> {
  const given = endpoints.filter(({ hints }) => hints !== undefined)
  if (given.length === 0) return {}
  return {
    hints: given
      .map(({ addresses, hints }) => JSON.stringify([addresses, hints]))
      .sort()
      .join(),
  }
}

function identity({ metadata: { uid = '', name, namespace = '', resourceVersion = '' } }: Meta) {
  return { uid, name, namespace, resourceVersion }
}

function podOfReference(
  reference: { kind?: string; name?: string; uid?: string } | undefined,
): Pick<SeenAddress, 'pod' | 'podName'> {
  if (reference?.kind !== 'Pod' || reference.uid === undefined) return {}
  return { pod: reference.uid, ...(reference.name === undefined ? {} : { podName: reference.name }) }
}

function container({ name, restartPolicy, ports }: Container): Container {
  return defined({
    name,
    restartPolicy,
    ports: ports?.map((one) => defined({ name: one.name, containerPort: one.containerPort, protocol: one.protocol })),
  })
}

type Defined<Fields> = { [Name in keyof Fields]: Exclude<Fields[Name], undefined> }

/** Returns the fields without those that are undefined, as JSON has them. */
function defined<Fields extends object>(fields: Fields): Defined<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<Fields>
}
