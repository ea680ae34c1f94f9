import type { AddressType } from '../endpoints/objects.ts'
import type { Reason } from '../reasons/reason.ts'
import type { AwayReason } from './model.ts'

/** The problems of a synced Service. `source` is the name of the source cluster. */
export interface SyncProblemFields {
  /** The access cluster has no such namespace. */
  'namespace-missing': object
  /** The access cluster has no such Service, and sync may not make it. */
  'service-missing': object
  /** The access cluster has no such Service, and no source has one that it could be made from. */
  'service-unmade': object
  /** The Service in the access cluster has a selector: copies that are there become fewer, and none is added. */
  'service-has-selector': { selector: Readonly<Record<string, string>> }
  /** The Service in the access cluster has the type ExternalName. */
  'service-external-name': object
  /**
   * Ports of the Service in the access cluster lead to no copy of the source: a Service finds the ports of its slices by their names. `has` are
   * the names in the copies. A port without a name is ''.
   */
  'ports-unserved': { source: string; ports: readonly string[]; has: readonly string[] }
  /** The Service in the access cluster has no addresses of this family: the copies are there, and no traffic goes to them. */
  'family-unserved': { source: string; family: AddressType; count: number }
  /** The Service in the source has the type ExternalName: it has no endpoints. */
  'source-external-name': { source: string }
  /** The ports of the Service in `source` differ from those in `first`, such as `http 80/TCP`. */
  'ports-differ': { source: string; ports: readonly string[]; first: string; firstPorts: readonly string[] }
  /** Addresses of `source` that `first` has too. The copies are those of `first`. */
  'addresses-twice': { source: string; first: string; addresses: readonly string[]; count: number }
  /** EndpointSlices of the source whose addresses cannot be copied, such as names. */
  'addresses-uncopied': { source: string; slices: readonly string[] }
  'source-without': { source: string; lacks: 'namespace' | 'service' }
  /** The config does not name the source for the Service. Its copies stay until all of `unknown`, which it names, are known. */
  'source-unnamed': { source: string; slices: readonly string[]; unknown: readonly string[] }
  'source-away': { source: string; because: AwayReason }
  /** The copies of a source that is away are removed. */
  'source-expired': { source: string }
  /** The copies of a source that is away would be removed by now, and are kept: the other sources have too few ready endpoints. */
  'kept-for-floor': { source: string; ready: number; floor: number }
  /** The cluster of the source was made anew. Its former copies are kept for now. */
  'source-replaced': { source: string }
  /** A name that sync would give to a slice belongs to a slice of another writer. */
  'foreign-slice': { slice: string; manager?: string }
  /** Another sync, of this Lease, has slices of the Service. Its slices are left alone, and readers have the endpoints of both. */
  'other-sync': { instance: string; slices: readonly string[] }
  /** The access cluster stores slices otherwise than sync has written them: by admission. */
  'altered-by-admission': { slices: readonly string[] }
  'write-failed': { slice?: string; because: Reason }
}

export type SyncProblemCode = keyof SyncProblemFields
export type SyncProblem = { [C in SyncProblemCode]: { readonly code: C } & Readonly<SyncProblemFields[C]> }[SyncProblemCode]

/** The problems of a source as a whole, which do not stop the copying. */
export interface SourceProblemFields {
  /** Pods may not be read, or their list does not answer: a pod under upgrade leaves by its readiness alone. */
  'pods-unread': { because: Reason }
  /** The namespaces may not be read: a cluster that was made anew cannot be told. */
  'identity-unread': { because: Reason }
}

export type SourceProblemCode = keyof SourceProblemFields
export type SourceProblem = {
  [C in SourceProblemCode]: { readonly code: C } & Readonly<SourceProblemFields[C]>
}[SourceProblemCode]
