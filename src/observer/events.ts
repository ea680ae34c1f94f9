import type { Node, Pod, PodCondition, Service } from '../endpoints/objects.ts'
import type { Writer } from '../reasons/fields.ts'
import type { Reason } from '../reasons/reason.ts'

/* What was seen, with the instant at which it was seen. Recordings have one a line. */

/** `at`: milliseconds since 1970, all by one clock, which never goes back. */
interface Seen {
  readonly at: number
}

interface SeenIn extends Seen {
  /** The name of the cluster, as its user has it. */
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
  /** By its journal: sluice has drained it at its load balancers, and has not put it back. */
  readonly isDrained?: boolean
}

export interface SeenNode extends Node {
  /** Of condition Ready: `Unknown` where the heartbeat of its kubelet is late. */
  readonly ready: string
  readonly addresses: readonly string[]
}

/** One address of an EndpointSlice, or of Endpoints. */
export interface SeenAddress {
  readonly address: string
  readonly ready: boolean
  /** Of slices. */
  readonly serving?: boolean
  readonly terminating?: boolean
  /** The UID and the name of the pod that it is of, where it says so. */
  readonly pod?: string
  readonly podName?: string
}

export type EndpointObjectKind = 'EndpointSlice' | 'Endpoints'
export const ENDPOINT_OBJECT_KINDS = ['EndpointSlice', 'Endpoints'] as const satisfies readonly EndpointObjectKind[]

/** Parts of the control plane that hold a Lease of their own name. */
export const CONTROL_PLANE_PARTS = ['kube-scheduler', 'kube-controller-manager'] as const

export interface SeenEndpoints {
  readonly kind: EndpointObjectKind
  readonly uid: string
  readonly resourceVersion: string
  readonly namespace: string
  readonly name: string
  readonly service: string
  /** The controller of Kubernetes keeps it, by its labels. Each Endpoints is taken for such. */
  readonly isControllers: boolean
  readonly addresses: readonly SeenAddress[]
  /** As a digest: two equal ones are of equal ports. */
  readonly ports: string
  /** Of slices: which zones and nodes each address is for, as a digest. Absent where it is for all. */
  readonly hints?: string
  readonly labels?: Readonly<Record<string, string>>
  /** `endpoints.kubernetes.io/last-change-trigger-time`. */
  readonly triggerAt?: string
  /** Endpoints have room for no more: `endpoints.kubernetes.io/over-capacity`. */
  readonly isTruncated?: boolean
  /** The client that has last written the addresses. */
  readonly by?: Writer
  /** Where another client has changed something of it since, its labels perhaps. */
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
    /** All that was there at the beginning has been told. `minor`: of the API server's version, where that is known. */
    | { readonly type: 'synced'; readonly minor?: number }
    | { readonly type: 'unread'; readonly what: ReadKind; readonly because: Reason }
    /** What was not, is. */
    | { readonly type: 'read'; readonly what: ReadKind }
    | { readonly type: 'unreachable'; readonly because: Reason }
    /**
     * What the metrics of its controller manager say: `queued`, Services in the queue of each endpoint controller (`workqueue_depth`);
     * `puts`, requests by PUT since it began.
     */
    | {
        readonly type: 'manager-metrics'
        readonly queued: Readonly<Partial<Record<EndpointObjectKind, number>>>
        readonly puts: number
      }
    | { readonly type: 'manager-metrics-unread'; readonly because: Reason }
    /** It is read again. */
    | { readonly type: 'reached' }
  )

export type ReadKind = 'pods' | 'nodes' | 'services' | 'endpointslices' | 'endpoints'

export type LoadBalancerEvent = Seen & { readonly loadBalancer: string } & (
    | { readonly type: 'entry'; readonly entry: SeenEntry }
    | { readonly type: 'entry-gone'; readonly id: string }
    /** All of its entries have been told. */
    | { readonly type: 'load-balancer-read' }
    | { readonly type: 'load-balancer-unread'; readonly because: Reason }
  )

export type ObservedEvent = ClusterEvent | LoadBalancerEvent | (Seen & { readonly type: 'end' })
