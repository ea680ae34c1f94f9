import type { Container as EndpointContainer, Service as EndpointService } from '../endpoints/objects.ts'
import type { StoredNode, StoredPod } from '../endpoints/stored.ts'
import type { LabelSelector } from '../pods/label-selector.ts'

/** The objects of the API server, with the fields that the checks read. */

interface Metadata {
  readonly name: string
  readonly uid?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
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

export interface Pod extends Omit<StoredPod, 'spec'> {
  readonly metadata: StoredPod['metadata'] & {
    readonly creationTimestamp?: string
    readonly ownerReferences?: readonly OwnerReference[]
  }
  readonly spec: Omit<StoredPod['spec'], 'containers' | 'initContainers'> & {
    readonly containers: readonly Container[]
    readonly initContainers?: readonly Container[]
    readonly schedulerName?: string
    readonly schedulingGates?: readonly unknown[]
  }
}

export interface Service extends EndpointService {
  readonly metadata: EndpointService['metadata'] & { readonly creationTimestamp?: string; readonly deletionTimestamp?: string }
}

export interface Node extends StoredNode {
  readonly metadata: StoredNode['metadata'] & { readonly creationTimestamp?: string }
  readonly status?: StoredNode['status'] & { readonly nodeInfo?: { readonly kubeletVersion?: string } }
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
    readonly conditions?: readonly { readonly type: string; readonly lastTransitionTime?: string | null }[]
  }
}

export interface Webhook {
  readonly name: string
  readonly failurePolicy?: string
  readonly timeoutSeconds?: number
  readonly clientConfig?: { readonly url?: string; readonly service?: { readonly namespace: string; readonly name: string } }
  readonly namespaceSelector?: LabelSelector
  readonly objectSelector?: LabelSelector
  /** Conditions in CEL. The API server calls the webhook where all of them hold. */
  readonly matchConditions?: readonly { readonly name: string; readonly expression?: string }[]
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
