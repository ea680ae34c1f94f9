import type { AddressType, EndpointPort } from '../endpoints/objects.ts'
import type { Reason } from '../reasons/reason.ts'

/*
 * Words: a *source* is a cluster whose endpoints are copied. The *access cluster* gets the copies. A *copy* is an endpoint of a source in an
 * EndpointSlice of the access cluster.
 */

/** A Service whose endpoints are copied from the sources into the access cluster. */
export interface SyncedService {
  readonly namespace: string
  readonly name: string
  /** The names of the sources. Where two sources have the same address, the first of them wins. */
  readonly sources: readonly string[]
  /** Whether sync makes the selectorless Service in the access cluster where there is none. */
  readonly create: boolean
  readonly away: WhenAway
  /**
   * The time for which a source whose cluster was made anew counts as away, as long as the new cluster has no ready endpoint of the Service.
   * After that time, the new cluster is believed.
   */
  readonly replacedAfterMs: number
}

/**
 * The rule for the copies of a source that does not answer: `keep` leaves them; `expire` removes them after `afterMs`, as long as the other
 * sources of the Service that answer have at least `floor` ready endpoints.
 */
export type WhenAway = { readonly is: 'keep' } | { readonly is: 'expire'; readonly afterMs: number; readonly floor: number }

export interface Conditions {
  readonly ready: boolean
  readonly serving: boolean
  readonly terminating: boolean
}

/** An endpoint of a source, as the access cluster is to have it. The node and the pod belong to another cluster, and are left out. */
export interface WantedEndpoint {
  readonly addressType: AddressType
  readonly address: string
  readonly ports: readonly EndpointPort[]
  /** The conditions in the source; for a pod under upgrade, `ready` is false. */
  readonly conditions: Conditions
  readonly hostname?: string
  readonly zone?: string
  /** Present where the journal of the pod says that an upgrade has the pod out of rotation. */
  readonly isUpgrading?: true
}

/** The content of one source for one Service. */
export interface SourceContent {
  readonly endpoints: readonly WantedEndpoint[]
  /** The ports of the Service in the source; absent where the source has endpoints, and no Service. */
  readonly service?: SourceService
}

/** The fields of a source's Service that a Service in the access cluster is made from. */
export interface SourceService {
  readonly ports: readonly {
    readonly name?: string
    readonly port: number
    readonly protocol?: string
    readonly appProtocol?: string
  }[]
  readonly isHeadless: boolean
  /** The families of its addresses, where the API server states them. */
  readonly families?: readonly AddressType[]
  /** The Service is a name in DNS, and has no endpoints. */
  readonly isExternalName?: true
}

/** The knowledge about one Service in one source. Instants are those of the monotonic clock of this process. */
export type SourceView =
  /** The first lists are under way: nothing is known. */
  | { readonly is: 'listing' }
  | ({ readonly is: 'known' } & SourceContent)
  /** The source answers, and has no such Service. `namespace`: it has not even the namespace. */
  | { readonly is: 'without'; readonly lacks: 'namespace' | 'service' }
  /**
   * The source does not answer, or refuses. `last` is the last content that this process has seen and written as the leader; absent where it
   * has not.
   */
  | { readonly is: 'away'; readonly sinceAt: number; readonly because: AwayReason; readonly last?: SourceContent }
  /** The source answers as another cluster than the one that the copies are from. `now` is the content of the new cluster. */
  | { readonly is: 'replaced'; readonly sinceAt: number; readonly now: SourceContent }

export type AwayReason =
  /** The credentials, or the way to the cluster, cannot be read. */
  | { readonly is: 'unconnected'; readonly because: Reason }
  | { readonly is: 'unanswered'; readonly because: Reason }
  /** The cluster answers, and this user may not list or watch `what`. */
  | { readonly is: 'refused'; readonly what: 'endpointslices' | 'services'; readonly because: Reason }
