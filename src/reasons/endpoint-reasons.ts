import type { NoFields } from './fields.ts'

type AddressType = 'IPv4' | 'IPv6'

/** Why the controllers make for a Service what they make. */
export interface ServiceEndpointReasons {
  /** The controllers leave the Service alone: what makes its endpoints is another writer. */
  'no-selector': NoFields
  /** The Service is a name in DNS. */
  'external-name': NoFields
  'selects-nothing': { selector: Readonly<Record<string, string>> }
  /** Endpoints have addresses and no ports. */
  'headless-without-ports': NoFields
}

/** Why a pod is out of the endpoints of a Service, or in them as it is. */
export interface PodEndpointReasons {
  /** `value`: the one of the pod, where it has that label. */
  'selector-differs': { labels: readonly { name: string; wanted: string; value?: string }[] }
  'pod-finished': { phase: 'Succeeded' | 'Failed'; restartPolicy?: string }
  'pod-has-no-address': NoFields
  /** `forEndpoints`: Endpoints are of this type alone, so that they lack the pod. */
  'no-address-of-type': { addressType: AddressType; has: readonly AddressType[]; forEndpoints: boolean }
  /** EndpointSlices leave the pod out; Endpoints do not look at nodes. */
  'node-not-found': { node: string }
  /**
   * No container has this named port. EndpointSlices have the pod with the other ports, be it with none; Endpoints have it where
   * another port is found. `port`: its name in the Service, which may be empty.
   */
  'port-not-found': {
    port: string
    targetPort: string
    protocol: string
    otherProtocol?: string
    /** An init container has that port, and endpoints have the ports of sidecars alone. */
    inInitContainer?: boolean
  }
  /** Endpoints have addresses under a port alone. */
  'no-port-in-endpoints': NoFields
  /** Condition Ready as it stands, where nothing else explains it. */
  'ready-condition': { status: string; reason?: string; message?: string }
  /** The Service has `publishNotReadyAddresses`: ready is true whatever the pod says, and Endpoints keep a pod that terminates. */
  'not-ready-published': NoFields
  /** No controller of 1.32 or later reads the annotation. */
  'old-annotation-ignored': { annotation: string }
  /** Of more addresses than `limit`, Endpoints lack this pod, or have it under some of its ports. */
  'endpoints-truncated': { limit: number; ready: number; notReady: number }
  /** The endpoint has no hostname, and the pod no name in DNS below the Service: its subdomain is not the name of the Service. */
  'hostname-left-out': { hostname: string; subdomain?: string }
  /** Pods with the network of their node share its addresses. */
  'host-network': { node?: string }
}

export interface EndpointReasons extends ServiceEndpointReasons, PodEndpointReasons {}

/** How a pod stands is told by the codes of `PodFacts`. */
export type SharedCode = 'terminating' | 'containers-not-ready' | 'readiness-gates-closed' | 'node-silent'
