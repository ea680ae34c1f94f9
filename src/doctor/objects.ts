import type {
  Container as EndpointContainer,
  EndpointAddress,
  Pod as EndpointPod,
  Service as EndpointService,
} from '../endpoints/objects.ts'

/** Objects as the API server has them, with the fields that the checks read. */

export interface ManagedFields {
  readonly manager?: string
  readonly time?: string
  readonly subresource?: string
  readonly fieldsV1?: Readonly<Record<string, unknown>>
}

interface Metadata {
  readonly name: string
  readonly uid?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly managedFields?: readonly ManagedFields[]
}

interface Namespaced extends Metadata {
  readonly namespace: string
}

export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
}

export interface Probe {
  readonly initialDelaySeconds?: number
  readonly periodSeconds?: number
  readonly failureThreshold?: number
  readonly timeoutSeconds?: number
}

interface Container extends EndpointContainer {
  readonly readinessProbe?: Probe
}

export interface Pod extends Omit<EndpointPod, 'spec'> {
  readonly metadata: EndpointPod['metadata'] & {
    readonly creationTimestamp?: string
    readonly ownerReferences?: readonly OwnerReference[]
  }
  readonly spec: Omit<EndpointPod['spec'], 'containers' | 'initContainers'> & {
    readonly containers: readonly Container[]
    readonly initContainers?: readonly Container[]
    readonly schedulerName?: string
    readonly schedulingGates?: readonly unknown[]
  }
}

export interface Service extends EndpointService {
  readonly metadata: EndpointService['metadata'] & { readonly creationTimestamp?: string; readonly deletionTimestamp?: string }
}

export interface EndpointSlice {
  readonly metadata: Namespaced
  readonly addressType?: string
  /** Null in a slice without any. */
  readonly endpoints?:
    | readonly {
        readonly addresses: readonly string[]
        readonly conditions?: { readonly ready?: boolean | null }
        readonly targetRef?: { readonly kind?: string; readonly name?: string }
      }[]
    | null
}

export interface Endpoints {
  readonly metadata: Namespaced
  readonly subsets?: readonly {
    readonly addresses?: readonly Partial<EndpointAddress>[]
    readonly notReadyAddresses?: readonly Partial<EndpointAddress>[]
  }[]
}

export interface Node {
  readonly metadata: Metadata
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[]
    readonly nodeInfo?: { readonly kubeletVersion?: string }
  }
}

export interface Namespace {
  readonly metadata: Metadata
}

export interface Lease {
  readonly metadata: Namespaced
  readonly spec?: {
    readonly holderIdentity?: string | null
    readonly leaseDurationSeconds?: number | null
    readonly renewTime?: string | null
  }
}

export interface Event {
  readonly metadata: Namespaced
  readonly reason?: string
  readonly involvedObject?: { readonly kind?: string; readonly name?: string }
  readonly count?: number
  readonly lastTimestamp?: string | null
  readonly eventTime?: string | null
}

export interface Budget {
  readonly metadata: Namespaced
  readonly status?: {
    readonly disruptionsAllowed?: number
    readonly currentHealthy?: number
    readonly desiredHealthy?: number
    readonly expectedPods?: number
  }
}

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly {
    readonly key: string
    readonly operator: string
    readonly values?: readonly string[]
  }[]
}

export interface Webhook {
  readonly name: string
  readonly failurePolicy?: string
  readonly timeoutSeconds?: number
  readonly clientConfig?: { readonly url?: string; readonly service?: { readonly namespace: string; readonly name: string } }
  readonly namespaceSelector?: LabelSelector
  readonly objectSelector?: LabelSelector
  readonly rules?: readonly {
    readonly apiGroups?: readonly string[]
    readonly resources?: readonly string[]
    readonly operations?: readonly string[]
    readonly scope?: string
  }[]
}

export interface WebhookConfiguration {
  readonly metadata: Metadata
  readonly webhooks?: readonly Webhook[]
}
