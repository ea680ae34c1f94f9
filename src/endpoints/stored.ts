import type { Pod, PodCondition } from './objects.ts'

/* The objects of the API server, with fields that are read in addition to those that decide about endpoints. */

/** One entry of `metadata.managedFields`. */
export interface ManagedFields {
  readonly manager?: string
  readonly time?: string
  readonly fieldsV1?: unknown
}

interface StoredMetadata {
  readonly name: string
  readonly namespace: string
  readonly labels?: Readonly<Record<string, string>>
  readonly managedFields?: readonly ManagedFields[]
}

export interface StoredPod extends Omit<Pod, 'metadata' | 'status'> {
  readonly metadata: Pod['metadata'] & {
    readonly managedFields?: readonly ManagedFields[]
    readonly deletionGracePeriodSeconds?: number
  }
  readonly status?: Omit<NonNullable<Pod['status']>, 'conditions'> & { readonly conditions?: readonly StoredCondition[] }
}

export interface StoredCondition extends PodCondition {
  readonly lastTransitionTime?: string
}

export interface StoredSlice {
  readonly metadata: StoredMetadata
  readonly addressType: string
  readonly ports?: readonly StoredPort[]
  readonly endpoints?: readonly StoredEndpoint[]
}

export interface StoredPort {
  readonly name?: string
  readonly port?: number
  readonly protocol?: string
  readonly appProtocol?: string
}

export interface StoredEndpoint {
  readonly addresses: readonly string[]
  readonly conditions?: { readonly ready?: boolean; readonly serving?: boolean; readonly terminating?: boolean }
  readonly targetRef?: PodReference
  /** The zones and nodes that the endpoint is meant for. */
  readonly hints?: unknown
}

interface PodReference {
  readonly kind?: string
  readonly name?: string
  readonly uid?: string
}

export interface StoredEndpoints {
  readonly metadata: StoredMetadata
  readonly subsets?: readonly {
    readonly addresses?: readonly StoredAddress[]
    readonly notReadyAddresses?: readonly StoredAddress[]
  }[]
}

export interface StoredAddress {
  readonly ip: string
  readonly targetRef?: PodReference
}

export interface StoredNode {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> }
  readonly spec?: { readonly unschedulable?: boolean }
  readonly status?: { readonly conditions?: readonly StoredCondition[] }
}
