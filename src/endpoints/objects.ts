/** The objects of the API server, with the fields that decide about endpoints. */

export type Protocol = string

interface Metadata {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
}

interface NamespacedMetadata extends Metadata {
  readonly namespace: string
  readonly uid: string
  readonly annotations?: Readonly<Record<string, string>>
}

export interface ServicePort {
  readonly name?: string
  readonly port: number
  readonly protocol?: Protocol
  readonly targetPort?: number | string
  readonly appProtocol?: string
}

export interface Service {
  readonly metadata: NamespacedMetadata
  readonly spec: {
    readonly type?: string
    /** The value `None` makes the Service headless. */
    readonly clusterIP?: string
    /** The first family is that of the Endpoints. */
    readonly ipFamilies?: readonly AddressType[]
    readonly selector?: Readonly<Record<string, string>>
    readonly ports?: readonly ServicePort[]
    readonly publishNotReadyAddresses?: boolean
  }
}

export interface Container {
  readonly name: string
  /** The value `Always` makes an init container a sidecar. */
  readonly restartPolicy?: string
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number; readonly protocol?: Protocol }[]
}

export interface PodCondition {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
}

export interface Pod {
  readonly metadata: NamespacedMetadata & { readonly deletionTimestamp?: string; readonly finalizers?: readonly string[] }
  readonly spec: {
    readonly nodeName?: string
    readonly hostNetwork?: boolean
    readonly hostname?: string
    readonly subdomain?: string
    readonly restartPolicy?: string
    readonly containers: readonly Container[]
    readonly initContainers?: readonly Container[]
    readonly readinessGates?: readonly { readonly conditionType: string }[]
  }
  readonly status?: {
    readonly phase?: string
    readonly podIP?: string
    readonly podIPs?: readonly { readonly ip?: string }[]
    readonly conditions?: readonly PodCondition[]
    readonly containerStatuses?: readonly {
      readonly name: string
      readonly ready?: boolean
      readonly state?: { readonly waiting?: { readonly reason?: string } }
    }[]
  }
}

export interface Node {
  readonly metadata: Metadata
}

export type AddressType = 'IPv4' | 'IPv6'

export interface EndpointPort {
  /** The name; empty where the Service has a single port without a name. */
  readonly name: string
  readonly port: number
  readonly protocol: Protocol
  readonly appProtocol?: string
}

export interface PodReference {
  readonly kind: 'Pod'
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

export interface SliceEndpoint {
  readonly addresses: readonly string[]
  readonly conditions: { readonly ready: boolean; readonly serving: boolean; readonly terminating: boolean }
  readonly hostname?: string
  readonly nodeName?: string
  readonly zone?: string
  readonly targetRef: PodReference
}

/** The EndpointSlices with one address type and one set of ports. Their number, and the endpoints in each, depend on their history. */
export interface SliceGroup {
  readonly addressType: AddressType
  /** The ports; empty where the Service has none, or none is found in the pods. */
  readonly ports: readonly EndpointPort[]
  /** The endpoints; empty only in the single slice of an address type without endpoints. */
  readonly endpoints: readonly SliceEndpoint[]
}

export interface EndpointAddress {
  readonly ip: string
  readonly hostname?: string
  readonly nodeName?: string
  readonly targetRef: PodReference
}

export interface EndpointSubset {
  readonly addresses: readonly EndpointAddress[]
  readonly notReadyAddresses: readonly EndpointAddress[]
  readonly ports: readonly EndpointPort[]
}
