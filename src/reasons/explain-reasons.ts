import type { EntryReading, ObjectName, Writer } from './fields.ts'
import type { Reason } from './reason.ts'

/** The findings of `sluice explain`. */
export interface ExplainReasons {
  /** No EndpointSlice exists, although the controller makes one for each Service with a selector, even an empty selector. */
  'no-slice': { service: string }
  /** The pod is in no slice, although the controllers would put it into one. */
  'not-in-slices': { service: string; pod: string; addresses: readonly string[] }
  /** The endpoint differs from the controllers' result. `is` is absent if the slice does not have the field. */
  'slice-differs': {
    service: string
    slice: string
    pod: string
    differs: readonly { field: 'ready' | 'serving' | 'terminating'; is?: boolean; made: boolean }[]
  }
  'slice-ports-differ': { service: string; slice: string; pod: string; ports: readonly string[]; made: readonly string[] }
  /** An address that the controllers would not put there. `pod`: the pod that the endpoint names. */
  'stale-address': { service: string; object: ObjectName; address: string; pod?: string; because: StaleAddress }
  'endpoints-differ': { service: string; pods: readonly { pod: string; is: InEndpoints; made: InEndpoints }[] }
  /** The Service has no Endpoints object. EndpointSlices do not need it. */
  'endpoints-missing': { service: string }
  /** Another client was the last writer of an object that a controller of Kubernetes owns. */
  'written-by-other': { object: ObjectName; writer: Writer }
  /** Slices of the Service that another controller keeps; their addresses are additional. */
  'slices-of-others': { service: string; slices: readonly string[]; managedBy?: string }
  'no-ready-endpoint': { service: string; pods: number }
  /** The Service has no selector and no address; another writer has to add the addresses. */
  'no-address-given': { service: string }
  /** Pods that have a part of the labels that the selector requires. */
  'selector-nearly': { pods: readonly string[]; labels: readonly { name: string; wanted: string; value?: string }[] }
  'in-no-service': { pods: readonly string[] }

  /** Another client was the last writer of a condition that the kubelet owns. The condition stays so until the kubelet writes it again. */
  'condition-by-other': { pod: string; condition: string; status: string; writer: Writer }

  'node-not-ready': { node: string; status: string; reason?: string; since?: string }
  /** The Lease of the node was not renewed during that time. `renewedAt`: by the clock of the node. */
  'node-lease-not-renewed': { node: string; renewedAt?: string; watchedMs: number }
  'node-cordoned': { node: string }

  'fewer-pods': { workload: string; pods: number; wanted: number }

  /** `out`: null if only the load balancer could tell. `because`: the state of the pod's record. */
  'pod-in-run': { pod: string; run: string; step: string; out: boolean | null; holder?: string; because: Reason }
  /** A person has to act on the pod; no run can go on by itself. */
  'pod-needs-operator': { pod: string; run: string }

  /** A run has taken the entry out of rotation. */
  'entry-out-by-run': { entry: EntryReading; run: string }
  /** The entry is out of rotation, but not by a run: by an operator or another tool. */
  'entry-out-by-others': { entry: EntryReading }
  /** An operator had taken the entry out of rotation before the run came to the pod. */
  'entry-out-before-run': { entry: EntryReading; run: string }
  /** The entry is in rotation, but the load balancer's own health check fails, so that it sends no requests. */
  'entry-fails-check': { entry: EntryReading }
  /** The load balancer sends requests to a pod that is not ready or is terminating. */
  'entry-in-and-pod-not-ready': { entry: EntryReading }
}

/**
 * The reason why an address is stale: the pod is gone, another pod has its name, its labels do not match any more, its containers have
 * ended, it has another address, the controllers omit it for another reason, or the endpoint names no pod.
 */
export type StaleAddress =
  | 'pod-gone'
  | 'pod-replaced'
  | 'not-selected'
  | 'pod-finished'
  | 'other-address'
  | 'not-made'
  | 'no-pod-named'

/** The place of a pod in Endpoints. */
export type InEndpoints = 'ready' | 'not-ready' | 'absent'
