/**
 * What the embedded API server is to others. Everything is synchronous: a request is answered at the moment that it
 * arrives, so that whoever carries it (a test's seeded scheduler, or an HTTP server) decides when that is, and what
 * becomes of the answer.
 */

/** A Kubernetes object as stored. Never changed in place: each version is an object of its own. */
export interface KubeObject {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
  // What a kind has beside its metadata; the API server stores more than it understands.
  [field: string]: unknown
}

export interface ObjectMeta {
  name: string
  namespace?: string
  uid: string
  resourceVersion: string
  generation?: number
  creationTimestamp: string
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: { apiVersion: string; kind: string; name: string; uid: string; controller?: boolean }[]
  [field: string]: unknown
}

/** Where objects of one kind are found. */
export interface ServedKind {
  /** Plural and group, as RBAC and kubectl write it: `statefulsets.apps`. */
  resource: string
  plural: string
  apiVersion: string
  kind: string
  namespaced: boolean
}

export interface ApiRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path and query. */
  path: string
  /** Lower-case names. */
  headers: Record<string, string>
  body?: string
}

export interface ApiAnswer {
  status: number
  /** Lower-case names. */
  headers: Record<string, string>
  text: string
}

/** Takes the lines of a watch, each a JSON document without its newline, at the moment that they are written. */
export interface WatchSink {
  line(text: string): void
  /** The server closed the stream in order. */
  end(): void
}

/** One write, as it was stored. */
export interface StoredWrite {
  verb: 'create' | 'update' | 'delete'
  before: KubeObject | undefined
  after: KubeObject | undefined
  /** Who wrote: `kubelet`, the name of a controller, or what the request was handed in as. */
  by: string
}

export interface ApiServer {
  /** Any request but a watch. `by` names the writer in the history of writes. */
  handle(request: ApiRequest, by: string): ApiAnswer
  /**
   * Starts a watch, or answers why not (400, 403, 404). From a version that is forgotten, the stream is one ERROR line
   * (410). `by` matters to `authorize` alone.
   */
  watch(
    request: ApiRequest,
    sink: WatchSink,
    by?: string,
  ): { kind: 'watching'; close(): void } | { kind: 'refused'; answer: ApiAnswer }
  /** That it serves. */
  readonly kinds: readonly ServedKind[]
  readonly store: Store
  /** Who may do what, from now on; at first everybody may do everything. Goes for requests and access reviews. */
  authorize(rights: Authorizer): void
  /** Asked before a write of an object is stored; for quotas, image policies and rewriting webhooks. */
  admit(hook: AdmissionHook): void
  /** Forgets the versions before this moment: a watch or a page that begins there gets 410. */
  compact(): void
  /** Ends all watches in order, as the server does under load. */
  closeWatches(): void
  /** Sends every watch that asked for them a bookmark. */
  bookmark(): void
}

/** Answers with the object to store instead, or refuses (403) with the whole message, as an admission webhook does. */
export type AdmissionHook = (write: {
  operation: 'CREATE' | 'UPDATE' | 'DELETE'
  object: KubeObject
  before: KubeObject | undefined
  dryRun: boolean
  by: string
}) => { object: KubeObject } | { refuse: string } | undefined

/** What a request wants to do, in the words of RBAC. */
export interface AccessAttributes {
  verb: string
  /** Empty for the core group. */
  group: string
  resource: string
  subresource: string
  /** Empty for all namespaces, and for cluster-scoped kinds. */
  namespace: string
  name: string
}

export type Authorizer = (by: string, attributes: AccessAttributes) => boolean

/** A kind by its plural and group: `pods`, `statefulsets.apps`, `endpointslices.discovery.k8s.io`. */
export type Resource = string

/** The store that kubelet and controllers write to directly: what they would do through the API, without its cost. */
export interface Store {
  get(resource: Resource, namespace: string, name: string): KubeObject | undefined
  /** All of a kind, in the order of their names. */
  list(resource: Resource, namespace?: string): KubeObject[]
  /** Stores a new object; the server fills uid, resourceVersion, creationTimestamp and generation. */
  create(resource: Resource, object: NewObject, by: string): KubeObject
  /**
   * Stores what `change` makes of the present version, which it must not change in place; `undefined` or the same object
   * leaves it as it is. Generation grows where the spec differs.
   */
  update(
    resource: Resource,
    namespace: string,
    name: string,
    change: (now: KubeObject) => KubeObject | undefined,
    by: string,
  ): KubeObject | undefined
  /** Removes it from the store for good: what a graceful deletion comes to in the end. */
  remove(resource: Resource, namespace: string, name: string, by: string): KubeObject | undefined
  /** Hears of each write, in order, in the same turn. Returns how to stop. */
  subscribe(listener: (resource: Resource, write: StoredWrite) => void): () => void
}

export type NewObject = Omit<KubeObject, 'metadata'> & { metadata: Partial<ObjectMeta> & { name: string } }
