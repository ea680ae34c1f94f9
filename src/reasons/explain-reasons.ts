import type { EntryReading, ObjectName, Writer } from './fields.ts'
import type { Reason } from './reason.ts'

/** What `sluice explain` finds. */
export interface ExplainReasons {
  /** The controller makes a slice for each Service that has a selector, be it an empty one. */
  'no-slice': { service: string }
  /** The controllers would have the pod in a slice, and none has it. */
  'not-in-slices': { service: string; pod: string; addresses: readonly string[] }
  /** `is` is absent where the slice does not say. */
  'slice-differs': {
    service: string
    slice: string
    pod: string
    differs: readonly { field: 'ready' | 'serving' | 'terminating'; is?: boolean; made: boolean }[]
  }
  'slice-ports-differ': { service: string; slice: string; pod: string; ports: readonly string[]; made: readonly string[] }
  /** An address that the controllers would not have there. `pod`: the one that the address is said to be of. */
  'stale-address': { service: string; object: ObjectName; address: string; pod?: string; because: StaleAddress }
  'endpoints-differ': { service: string; pods: readonly { pod: string; is: InEndpoints; made: InEndpoints }[] }
  /** There is no Endpoints object for the Service. EndpointSlices do not need it. */
  'endpoints-missing': { service: string }
  /** What the controller of Kubernetes owns was last written by another client. */
  'written-by-other': { object: ObjectName; writer: Writer }
  /** Slices of the Service that another controller keeps: their addresses come on top. */
  'slices-of-others': { service: string; slices: readonly string[]; managedBy?: string }
  'no-ready-endpoint': { service: string; pods: number }
  /** A Service without a selector has no address, which another writer has to give it. */
  'no-address-given': { service: string }
  /** These pods have a part of the labels that the selector wants. */
  'selector-nearly': { pods: readonly string[]; labels: readonly { name: string; wanted: string; value?: string }[] }
  'in-no-service': { pods: readonly string[] }

  /** A condition that the kubelet owns was last written by another client, and stays so until the kubelet writes it again. */
  'condition-by-other': { pod: string; condition: string; status: string; writer: Writer }

  'node-not-ready': { node: string; status: string; reason?: string; since?: string }
  /** Nobody has renewed the Lease of the node in that time. `renewedAt`: by the clock of the node. */
  'node-lease-not-renewed': { node: string; renewedAt?: string; watchedMs: number }
  'node-cordoned': { node: string }

  'fewer-pods': { workload: string; pods: number; wanted: number }

  /** `out`: null where that cannot be told without asking the load balancer. `because`: how the record of the pod stands. */
  'pod-in-run': { pod: string; run: string; step: string; out: boolean | null; holder?: string; because: Reason }
  /** No run can go on by itself. */
  'pod-needs-operator': { pod: string; run: string }

  /** A run has it out. */
  'entry-out-by-run': { entry: EntryReading; run: string }
  /** No run has it out: an operator has, or another tool. */
  'entry-out-by-others': { entry: EntryReading }
  /** An operator had it out when the run came to the pod. */
  'entry-out-before-run': { entry: EntryReading; run: string }
  /** It is in rotation, and the load balancer sends it no requests: by its own health check. */
  'entry-fails-check': { entry: EntryReading }
  /** The load balancer sends requests to a pod that is not ready, or is going. */
  'entry-in-and-pod-not-ready': { entry: EntryReading }
}

/**
 * Why an address is stale: the pod is gone, another has come under its name, its labels do not match any more, its containers have ended,
 * it has another address; the controllers leave it out for another reason; or no pod is named.
 */
export type StaleAddress =
  | 'pod-gone'
  | 'pod-replaced'
  | 'not-selected'
  | 'pod-finished'
  | 'other-address'
  | 'not-made'
  | 'no-pod-named'

/** Where Endpoints have a pod. */
export type InEndpoints = 'ready' | 'not-ready' | 'absent'
