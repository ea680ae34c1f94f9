import type { NoFields } from './fields.ts'

type AddressType = 'IPv4' | 'IPv6'

/** The reasons for the endpoints that the controllers make for a Service. */
export interface ServiceEndpointReasons {
  /** The Service has no selector. The controllers ignore it, and another writer makes its endpoints. */
  'no-selector': NoFields
  /** The Service is an alias in DNS (type ExternalName). */
  'external-name': NoFields
  'selects-nothing': { selector: Readonly<Record<string, string>> }
  /** The Service is headless and has no ports. Its Endpoints have addresses without ports. */
  'headless-without-ports': NoFields
}

/** The reasons why a pod is missing in the endpoints of a Service, or is there in its current form. */
export interface PodEndpointReasons {
  /** `value`: the value of the pod, if the pod has the label. */
  'selector-differs': { labels: readonly { name: string; wanted: string; value?: string }[] }
  'pod-finished': { phase: 'Succeeded' | 'Failed'; restartPolicy?: string }
  'pod-has-no-address': NoFields
  /** `forEndpoints`: the pod is missing in Endpoints, which have one address type only. */
  'no-address-of-type': { addressType: AddressType; has: readonly AddressType[]; forEndpoints: boolean }
  /** The node of the pod does not exist. EndpointSlices omit the pod; Endpoints do not depend on nodes. */
  'node-not-found': { node: string }
  /**
   * No container has this named port. EndpointSlices contain the pod with the other ports of the Service, possibly none; Endpoints contain
   * it if another port is found. `port`: the name of the port in the Service, which may be empty.
   */
  'port-not-found': {
    port: string
    targetPort: string
    protocol: string
    otherProtocol?: string
    /** An init container has that port; endpoints contain the ports of sidecars only. */
    inInitContainer?: boolean
  }
  /** The pod has none of the ports. Endpoints contain an address only with a port. */
  'no-port-in-endpoints': NoFields
  /** The condition Ready of the pod, if nothing else explains the endpoint. */
  'ready-condition': { status: string; reason?: string; message?: string }
  /** The Service has `publishNotReadyAddresses`: `ready` is true whatever the pod's state is, and Endpoints keep a terminating pod. */
  'not-ready-published': NoFields
  /** The annotation has no effect: the controllers of 1.32 and later do not read it. */
  'old-annotation-ignored': { annotation: string }
  /** There are more addresses than `limit`, and Endpoints lack this pod, or have it under some of its ports only. */
  'endpoints-truncated': { limit: number; ready: number; notReady: number }
  /** The endpoint has no hostname, and the pod has no DNS name below the Service, because its subdomain is not the name of the Service. */
  'hostname-left-out': { hostname: string; subdomain?: string }
  /** Pods on the host network have the addresses of their node. */
  'host-network': { node?: string }
}

export interface EndpointReasons extends ServiceEndpointReasons, PodEndpointReasons {}

/** The codes of `PodFacts` that describe the state of a pod. */
export type SharedCode = 'terminating' | 'containers-not-ready' | 'readiness-gates-closed' | 'node-silent'
