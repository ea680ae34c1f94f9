/** Objects as the API server has them, with the fields that decide on endpoints. */

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
    /** `None` where the Service is headless. */
    readonly clusterIP?: string
    /** The first is that of the Endpoints. */
    readonly ipFamilies?: readonly AddressType[]
    readonly selector?: Readonly<Record<string, string>>
    readonly ports?: readonly ServicePort[]
    readonly publishNotReadyAddresses?: boolean
  }
}

export interface Container {
  readonly name: string
  /** `Always` on an init container makes it a sidecar. */
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
  /** Empty where the Service has one port without a name. */
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

/** The EndpointSlices of one address type and one set of ports. How many there are, and which has what, depends on their history. */
export interface SliceGroup {
  readonly addressType: AddressType
  /** None where no port of the Service is found, or it has none. */
  readonly ports: readonly EndpointPort[]
  /** None in the one empty slice of an address type that has no endpoint. */
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
