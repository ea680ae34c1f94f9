import type { AddressType, EndpointPort } from '../endpoints/objects.ts'

/** A Service whose endpoints are copied from the source clusters into the access cluster. */
export interface SyncedService {
  readonly namespace: string
  readonly name: string
  /** The names of the source clusters. */
  readonly sources: readonly string[]
  /** Whether sync makes the selectorless Service in the access cluster where there is none. */
  readonly create: boolean
  /**
   * What becomes of the copies of a source that does not answer: `keep` leaves them; `expire` removes them after `afterMs`, as long as
   * `floor` ready endpoints of other sources are left.
   */
  readonly away: { readonly then: 'keep' } | { readonly then: 'expire'; readonly afterMs: number; readonly floor: number }
}

/** An endpoint of a source cluster, as the access cluster is to have it. */
export interface WantedEndpoint {
  readonly addressType: AddressType
  readonly address: string
  readonly ports: readonly EndpointPort[]
  readonly conditions: { readonly ready: boolean; readonly serving: boolean; readonly terminating: boolean }
  readonly hostname?: string
  readonly zone?: string
  /** The name of the node in the source cluster. */
  readonly node?: string
  /** Set where the journal of the pod says that an upgrade has the pod out of rotation. */
  readonly isUpgrading: boolean
}

/** What one source cluster says about one Service. */
export type SourceView =
  | { readonly is: 'listing' }
  | { readonly is: 'known'; readonly endpoints: readonly WantedEndpoint[] }
  /** The source does not answer. `endpoints` are the last ones known, if any. */
  | { readonly is: 'away'; readonly sinceAt: number; readonly endpoints?: readonly WantedEndpoint[] }
  /** The source answers, and has no such Service or no such namespace. */
  | { readonly is: 'without'; readonly lacks: 'namespace' | 'service' }
