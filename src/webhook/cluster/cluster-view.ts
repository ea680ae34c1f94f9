import type { Service } from '../../endpoints/objects.ts'
import type { StoredNode, StoredPod } from '../../endpoints/stored.ts'

/**
 * The objects that rules look at, as far as this process knows them. Each may be older than the object in the API server. An object has at
 * least the fields that rules may read (src/webhook/rules/variable-types.ts). An object is never changed in place, since its
 * values for the rules are made once.
 */
export interface ClusterView {
  /** The pod with this UID. Undefined where this process has not seen the pod yet, or no more. */
  pod(uid: string): StoredPod | undefined
  node(name: string): StoredNode | undefined
  service(namespace: string, name: string): Service | undefined
  /** The number of pods that the selector of the Service matches, and of those among them that the controllers count as ready. */
  podsOf(service: Service): { readonly all: number; readonly ready: number }
  /** The entry of the pod in the stored EndpointSlices or Endpoints of the Service other than the object under review. */
  previousOf(namespace: string, service: string, kind: EndpointsKind, podUid: string): EntryState | undefined
  /**
   * The state that the stored entry of the pod had before an instant. Undefined where it has not changed since then, or where this process does
   * not know back so far. A decision by objects that were not yet current may have stored another state.
   */
  stateBefore(namespace: string, service: string, kind: EndpointsKind, podUid: string, since: Since): PastState | undefined
}

/** The instant since when a rule keeps the state of an endpoint. */
export interface Since {
  /** In milliseconds since 1970. */
  readonly at: number
  /** The state that the writer wishes now. */
  readonly wished: EntryState
}

export type EndpointsKind = 'EndpointSlice' | 'Endpoints'

/** The state of an endpoint. An Endpoints object has no `serving` of its own: it equals `ready` there. */
export interface EntryState {
  readonly ready: boolean
  readonly serving: boolean
}

/** The state of the stored endpoints of a pod in the objects of one kind of a Service. `absent`: none of them has the pod. */
export type PastState = EntryState | 'absent'
