import type { Node, Pod, PodCondition, Service } from '../endpoints/objects.ts'
import type { Writer } from '../reasons/fields.ts'
import type { Reason } from '../reasons/reason.ts'

/* The events of an observation, each with the instant at which it was seen. A recording has one event a line. */

/** `at` is in milliseconds since 1970. All instants are by one clock, which never goes back. */
interface Seen {
  readonly at: number
}

interface SeenIn extends Seen {
  /** The name that the user has given the cluster, as its context. */
  readonly cluster: string
}

type PodStatus = NonNullable<Pod['status']>

export interface SeenPod extends Omit<Pod, 'status'> {
  readonly status?: Omit<PodStatus, 'conditions' | 'containerStatuses'> & {
    readonly conditions?: readonly (PodCondition & { readonly lastTransitionTime?: string })[]
    readonly containerStatuses?: readonly (NonNullable<PodStatus['containerStatuses']>[number] & {
      readonly restartCount?: number
      readonly isStopped?: boolean
    })[]
  }
  /** Whether sluice has drained the pod at its load balancers and not restored it yet, as the journal of the pod says. */
  readonly isDrained?: boolean
}

export interface SeenNode extends Node {
  /** The status of condition Ready: `Unknown` where the heartbeat of the kubelet is late. */
  readonly ready: string
  readonly addresses: readonly string[]
}

/** One address of an EndpointSlice, or of Endpoints. */
export interface SeenAddress {
  readonly address: string
  readonly ready: boolean
  /** Present in EndpointSlices alone, as is `terminating`. */
  readonly serving?: boolean
  readonly terminating?: boolean
  /** The UID of the pod, where `targetRef` names one; `podName` is its name. */
  readonly pod?: string
  readonly podName?: string
}

export type EndpointObjectKind = 'EndpointSlice' | 'Endpoints'
export const ENDPOINT_OBJECT_KINDS = ['EndpointSlice', 'Endpoints'] as const satisfies readonly EndpointObjectKind[]

/** The parts of the control plane whose leader holds a Lease. The Lease has the name of the part. */
export const CONTROL_PLANE_PARTS = ['kube-scheduler', 'kube-controller-manager'] as const

export interface SeenEndpoints {
  readonly kind: EndpointObjectKind
  readonly uid: string
  readonly resourceVersion: string
  readonly namespace: string
  readonly name: string
  readonly service: string
  /** Whether the labels of a slice name the controller of Kubernetes. All Endpoints have `true`, since no label of theirs does so. */
  readonly isControllers: boolean
  readonly addresses: readonly SeenAddress[]
  /** The ports as one text. Equal texts stand for equal ports. */
  readonly ports: string
  /** The zones and nodes that the addresses of a slice are for, as one text. Absent where each address is for all. */
  readonly hints?: string
  readonly labels?: Readonly<Record<string, string>>
  /** The annotation `endpoints.kubernetes.io/last-change-trigger-time`. */
  readonly triggerAt?: string
  /** Whether addresses were left out for lack of room: the annotation `endpoints.kubernetes.io/over-capacity` says so. */
  readonly isTruncated?: boolean
  /** The client that has last written the addresses. */
  readonly by?: Writer
  /** The client that has last written the object, where that is not `by`: a change of the labels may have another writer. */
  readonly lastBy?: Writer
}

/** An entry of a load balancer. */
export interface SeenEntry {
  readonly id: string
  readonly address: string
  readonly port: number
  readonly admin: 'in' | 'draining' | 'out' | 'unknown'
  /** Absent where the load balancer was not asked for the health of the entry. */
  readonly isRoutable?: boolean
}

export type ClusterEvent = SeenIn &
  (
    | { readonly type: 'pod'; readonly pod: SeenPod }
    | { readonly type: 'pod-gone'; readonly uid: string }
    | { readonly type: 'node'; readonly node: SeenNode }
    | { readonly type: 'node-gone'; readonly name: string }
    | { readonly type: 'service'; readonly service: Service }
    | { readonly type: 'service-gone'; readonly namespace: string; readonly name: string }
    | { readonly type: 'endpoints'; readonly endpoints: SeenEndpoints }
    | { readonly type: 'endpoints-gone'; readonly uid: string }
    /** All objects of the first lists have been emitted. `minor` is the minor version of the API server, where that is known. */
    | { readonly type: 'synced'; readonly minor?: number }
    | { readonly type: 'unread'; readonly what: ReadKind; readonly because: Reason }
    /** A kind that could not be read can be read again. */
    | { readonly type: 'read'; readonly what: ReadKind }
    | { readonly type: 'unreachable'; readonly because: Reason }
    /**
     * The metrics of the controller manager. `queued` is the number of Services in the queue of each endpoint controller
     * (`workqueue_depth`). `puts` is the number of PUT requests since the process began.
     */
    | {
        readonly type: 'manager-metrics'
        readonly queued: Readonly<Partial<Record<EndpointObjectKind, number>>>
        readonly puts: number
      }
    | { readonly type: 'manager-metrics-unread'; readonly because: Reason }
    /** The API server answers again. */
    | { readonly type: 'reached' }
  )

export type ReadKind = 'pods' | 'nodes' | 'services' | 'endpointslices' | 'endpoints'

export type LoadBalancerEvent = Seen & { readonly loadBalancer: string } & (
    | { readonly type: 'entry'; readonly entry: SeenEntry }
    | { readonly type: 'entry-gone'; readonly id: string }
    /** All entries of the load balancer have been emitted. */
    | { readonly type: 'load-balancer-read' }
    | { readonly type: 'load-balancer-unread'; readonly because: Reason }
  )

export type ObservedEvent = ClusterEvent | LoadBalancerEvent | (Seen & { readonly type: 'end' })
