import type { KubeObject } from '../api-server/server.ts'
import { since } from './ages.ts'
import { age, type Column, name, NONE } from './column.ts'
import { podColumns } from './pod-columns.ts'

/** Returns the value at a path such as `status.readyReplicas`. Undefined where a part of the path is missing. */
function at(object: KubeObject, path: string): unknown {
  return path.split('.').reduce<unknown>((part, key) => (part as Record<string, unknown> | undefined)?.[key], object)
}

function text(title: string, path: string, wide = false): Column {
  return { name: title, wide, cell: (object) => String(at(object, path) ?? NONE) }
}

function count(title: string, path: string): Column {
  return { name: title, type: 'integer', cell: (object) => Number(at(object, path) ?? 0) }
}

function ready(of: string): Column {
  return { name: 'Ready', cell: (object) => `${Number(at(object, 'status.readyReplicas') ?? 0)}/${Number(at(object, of) ?? 0)}` }
}

const CONTAINERS = 'spec.template.spec.containers'
const templateColumns: Column[] = (['Containers', 'Images'] as const).map((title) => ({
  name: title,
  wide: true,
  cell: (object) =>
    ((at(object, CONTAINERS) ?? []) as { name: string; image: string }[])
      .map((container) => (title === 'Images' ? container.image : container.name))
      .join(','),
}))

const KINDS: Record<string, Column[]> = {
  Pod: podColumns,
  StatefulSet: [name, ready('spec.replicas'), age, ...templateColumns],
  Deployment: [
    name,
    ready('spec.replicas'),
    count('Up-to-date', 'status.updatedReplicas'),
    count('Available', 'status.availableReplicas'),
    age,
    ...templateColumns,
  ],
  ReplicaSet: [
    name,
    count('Desired', 'spec.replicas'),
    count('Current', 'status.replicas'),
    count('Ready', 'status.readyReplicas'),
    age,
    ...templateColumns,
  ],
  DaemonSet: [
    name,
    count('Desired', 'status.desiredNumberScheduled'),
    count('Current', 'status.currentNumberScheduled'),
    count('Ready', 'status.numberReady'),
    count('Up-to-date', 'status.updatedNumberScheduled'),
    count('Available', 'status.numberAvailable'),
    age,
    ...templateColumns,
  ],
  Node: [
    name,
    { name: 'Status', cell: (node) => (conditionOf(node, 'Ready') === 'True' ? 'Ready' : 'NotReady') },
    { name: 'Roles', cell: () => NONE },
    age,
    text('Version', 'status.nodeInfo.kubeletVersion'),
    {
      name: 'Internal-IP',
      wide: true,
      cell: (node) => addressesOf(node).find(({ type }) => type === 'InternalIP')?.address ?? NONE,
    },
  ],
  Namespace: [name, text('Status', 'status.phase'), age],
  Service: [
    name,
    { name: 'Type', cell: (service) => String(at(service, 'spec.type') ?? 'ClusterIP') },
    text('Cluster-IP', 'spec.clusterIP'),
    {
      name: 'Port(s)',
      cell: (service) =>
        ((at(service, 'spec.ports') ?? []) as { port: number; protocol?: string }[])
          .map(({ port, protocol = 'TCP' }) => `${port}/${protocol}`)
          .join(',') || NONE,
    },
    age,
  ],
  ConfigMap: [name, { name: 'Data', type: 'integer', cell: (map) => Object.keys((map['data'] ?? {}) as object).length }, age],
  Lease: [name, text('Holder', 'spec.holderIdentity'), age],
  ControllerRevision: [
    name,
    {
      name: 'Controller',
      cell: ({ metadata }) => {
        const owner = metadata.ownerReferences?.find(({ controller }) => controller === true)
        return owner === undefined ? NONE : `${owner.kind.toLowerCase()}.apps/${owner.name}`
      },
    },
    count('Revision', 'revision'),
    age,
  ],
  EndpointSlice: [
    name,
    text('AddressType', 'addressType'),
    {
      name: 'Endpoints',
      cell: (slice) =>
        ((slice['endpoints'] ?? []) as { addresses: string[] }[]).flatMap(({ addresses }) => addresses).join(',') || NONE,
    },
    age,
  ],
  Event: [
    {
      name: 'Last Seen',
      cell: (event, wallNow) =>
        since(String(event['lastTimestamp'] ?? event['eventTime'] ?? event.metadata.creationTimestamp), wallNow),
    },
    text('Type', 'type'),
    text('Reason', 'reason'),
    {
      name: 'Object',
      cell: (event) => `${String(at(event, 'involvedObject.kind')).toLowerCase()}/${at(event, 'involvedObject.name')}`,
    },
    text('Message', 'message'),
    { ...name, wide: true },
  ],
}

export function columnsOf(kind: string): readonly Column[] {
  return KINDS[kind] ?? [name, age]
}

function conditionOf(object: KubeObject, type: string): string | undefined {
  const conditions = (at(object, 'status.conditions') ?? []) as { type: string; status: string }[]
  return conditions.find((one) => one.type === type)?.status
}

function addressesOf(node: KubeObject): { type: string; address: string }[] {
  return (at(node, 'status.addresses') ?? []) as { type: string; address: string }[]
}
