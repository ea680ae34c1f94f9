import { controllerRules } from '../../endpoints/controller-rules.ts'
import { SERVICE_NAME, SLICE_CONTROLLER, SLICE_MANAGED_BY } from '../../endpoints/endpoint-labels.ts'
import { AT, byKubelet, writtenBy } from '../../endpoints/testing/managed-fields.ts'
import { pod as endpointPod, service } from '../../endpoints/testing/objects.ts'
import type { StoredCondition, StoredEndpoint, StoredEndpoints, StoredPod, StoredSlice } from '../../endpoints/stored.ts'
import type { Observed } from '../observed.ts'
import type { ManagedFields } from '../../endpoints/stored.ts'

interface PodOptions {
  name?: string
  address?: string
  labels?: Record<string, string>
  conditions?: StoredCondition[]
  managedFields?: ManagedFields[]
  metadata?: object
  spec?: object
  status?: object
}

export const READY: StoredCondition[] = [
  { type: 'ContainersReady', status: 'True', lastTransitionTime: AT },
  { type: 'Ready', status: 'True', lastTransitionTime: AT },
]

export const NOT_READY: StoredCondition[] = [
  { type: 'ContainersReady', status: 'False', reason: 'ContainersNotReady', lastTransitionTime: AT },
  { type: 'Ready', status: 'False', reason: 'ContainersNotReady', lastTransitionTime: AT },
]

/** A pod that the Service `web` selects; Ready by default. */
export function pod({ name = 'web-0', address = '10.0.0.1', labels, conditions = READY, ...more }: PodOptions = {}): StoredPod {
  const { managedFields = [byKubelet('Ready', 'ContainersReady')], metadata = {}, spec = {}, status = {} } = more
  const plain = endpointPod({
    metadata: { name, uid: `uid-of-${name}`, ...(labels === undefined ? {} : { labels }) },
    spec,
    status: { podIP: address, podIPs: [{ ip: address }] },
  })
  return {
    ...plain,
    metadata: { ...plain.metadata, managedFields, ...metadata },
    status: { ...plain.status, conditions, ...status },
  }
}

export function notReady(options: PodOptions = {}): StoredPod {
  const containerStatuses = [{ name: 'app', ready: false, state: { waiting: { reason: 'CrashLoopBackOff' } } }]
  return pod({ conditions: NOT_READY, ...options, status: { containerStatuses, ...options.status } })
}

export function endpointOf({ metadata, status }: StoredPod, more: Partial<StoredEndpoint> = {}): StoredEndpoint {
  const ready = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true
  const { name, uid } = metadata
  return {
    addresses: [status!.podIP!],
    conditions: { ready, serving: ready, terminating: false },
    targetRef: { kind: 'Pod', name, uid },
    ...more,
  }
}

/** A slice, as the controller keeps it. */
export function slice(endpoints: StoredEndpoint[], more: Partial<StoredSlice> = {}): StoredSlice {
  return {
    metadata: {
      name: 'web-abc12',
      namespace: 'shop',
      labels: { [SERVICE_NAME]: 'web', [SLICE_MANAGED_BY]: SLICE_CONTROLLER },
      managedFields: [writtenBy('kube-controller-manager', { 'f:endpoints': {}, 'f:metadata': { 'f:ownerReferences': {} } }, AT)],
    },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    endpoints,
    ...more,
  }
}

export function endpointsObject(pods: readonly StoredPod[], more: Partial<StoredEndpoints> = {}): StoredEndpoints {
  const place = (is: boolean) =>
    pods
      .map((one) => ({ ip: one.status!.podIP!, targetRef: endpointOf(one).targetRef!, is: endpointOf(one).conditions!.ready! }))
      .filter((one) => one.is === is)
      .map(({ ip, targetRef }) => ({ ip, targetRef }))
  return {
    metadata: { name: 'web', namespace: 'shop', managedFields: [writtenBy('kube-controller-manager', { 'f:subsets': {} }, AT)] },
    subsets: [{ addresses: place(true), notReadyAddresses: place(false) }],
    ...more,
  }
}

/** The observed state of a cluster in which everything is as its controllers make it, except for the given parts. */
export function observed({ pods = [pod()], about, ...more }: Partial<Observed> & { pods?: readonly StoredPod[] } = {}): Observed {
  const [first] = pods
  return {
    about: about ?? { type: 'pod', object: `pod/${first!.metadata.name}`, name: first!.metadata.name, namespace: 'shop' },
    rules: controllerRules(35),
    services: [service()],
    pods,
    hasAllPods: true,
    asked: new Set(pods.map(({ metadata }) => metadata.uid)),
    slices: [slice(pods.map((one) => endpointOf(one)))],
    endpoints: [endpointsObject(pods)],
    nodes: [
      { metadata: { name: 'node-1' }, status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: AT }] } },
    ],
    heartbeats: new Map([['node-1', { renewedAt: AT }]]),
    entries: [],
    runs: new Map(),
    unread: [],
    ...more,
  }
}

export const SERVICE_WEB = { type: 'service', object: 'service/web', name: 'web', namespace: 'shop' } as const
export const STATEFUL_SET_WEB = { type: 'workload', object: 'statefulset/web', name: 'web', namespace: 'shop' } as const
