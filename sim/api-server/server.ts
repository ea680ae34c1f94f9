/**
 * The interface of the embedded API server. Every call is synchronous: a request is answered at the moment of its arrival. The carrier of
 * the request (the seeded scheduler of a test, or an HTTP server) decides about that moment, and about the fate of the answer.
 */

/** A Kubernetes object as stored. It is never changed in place: each version is an object of its own. */
export interface KubeObject {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
  // The fields beside the metadata. The API server also stores fields that it does not know.
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

/** A kind, with the location of its objects. */
export interface ServedKind {
  /** The plural and group, as RBAC and kubectl write it: `statefulsets.apps`. */
  resource: string
  plural: string
  apiVersion: string
  kind: string
  namespaced: boolean
}

export interface ApiRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path with the query. */
  path: string
  /** The headers, with names in lower case. */
  headers: Record<string, string>
  body?: string
}

export interface ApiAnswer {
  status: number
  /** The headers, with names in lower case. */
  headers: Record<string, string>
  text: string
}

/** Takes the lines of a watch at the moment that they are written. Each line is a JSON document without its newline. */
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
  /** The writer: `kubelet`, the name of a controller, or the name that the request was handed in with. */
  by: string
}

export interface ApiServer {
  /** Handles any request except a watch. `by` names the writer in the history of writes. */
  handle(request: ApiRequest, by: string): ApiAnswer
  /**
   * Starts a watch, or returns the refusal (400, 403, 404). From a forgotten version, the stream is one ERROR line (410). Only `authorize`
   * uses `by`.
   */
  watch(
    request: ApiRequest,
    sink: WatchSink,
    by?: string,
  ): { kind: 'watching'; close(): void } | { kind: 'refused'; answer: ApiAnswer }
  /** The kinds that the server serves. */
  readonly kinds: readonly ServedKind[]
  readonly store: Store
  /** Sets the rights for later requests and access reviews. At first every user may do everything. */
  authorize(rights: Authorizer): void
  /** Adds a hook that is called before a request is stored, for quotas, image policies and rewriting webhooks. */
  admit(hook: AdmissionHook): void
  /** Adds a hook that may change each object of these kinds before it is stored, also where a controller writes it through `store`. */
  mutate(resources: readonly Resource[], hook: MutatingHook): void
  /** Forgets the versions before this moment: a watch or a page that begins there gets 410. */
  compact(): void
  /** Ends all watches in order, as a server under load does. */
  closeWatches(): void
  /** Sends a bookmark to every watch that asked for bookmarks. */
  bookmark(): void
}

/** Returns the object to store instead, or refuses (403) with the whole message, as an admission webhook does. */
export type AdmissionHook = (write: {
  operation: 'CREATE' | 'UPDATE' | 'DELETE'
  object: KubeObject
  before: KubeObject | undefined
  dryRun: boolean
  by: string
}) => { object: KubeObject } | { refuse: string } | undefined

/**
 * Returns the object to store instead, or the object itself. `resource` is the plural and group. Such a hook never refuses, as a webhook that
 * fails open.
 */
export type MutatingHook = (write: {
  operation: 'CREATE' | 'UPDATE'
  resource: Resource
  object: KubeObject
  before: KubeObject | undefined
  dryRun: boolean
  by: string
}) => KubeObject

/** The attributes of a request, in the words of RBAC. */
export interface AccessAttributes {
  verb: string
  /** The API group. Empty for the core group. */
  group: string
  resource: string
  subresource: string
  /** The namespace. Empty for all namespaces, and for cluster-scoped kinds. */
  namespace: string
  name: string
}

export type Authorizer = (by: string, attributes: AccessAttributes) => boolean

/** A kind by its plural and group: `pods`, `statefulsets.apps`, `endpointslices.discovery.k8s.io`. */
export type Resource = string

/**
 * The store for direct writes of kubelet and controllers. It has the effect of their API requests without the cost. Hooks of `admit` do not
 * see these writes.
 */
export interface Store {
  get(resource: Resource, namespace: string, name: string): KubeObject | undefined
  /** Returns all objects of a kind, in the order of their names. */
  list(resource: Resource, namespace?: string): KubeObject[]
  /** Stores a new object. The server fills in uid, resourceVersion, creationTimestamp and generation. */
  create(resource: Resource, object: NewObject, by: string): KubeObject
  /**
   * Stores the result of `change`, which must not modify the present version in place. A result of `undefined`, or of the same object,
   * stores nothing. The generation grows where the spec differs.
   */
  update(
    resource: Resource,
    namespace: string,
    name: string,
    change: (now: KubeObject) => KubeObject | undefined,
    by: string,
  ): KubeObject | undefined
  /** Removes an object from the store at once, as at the end of a graceful deletion. */
  remove(resource: Resource, namespace: string, name: string, by: string): KubeObject | undefined
  /** Calls the listener for each write, in order, in the same turn. Returns the function that ends the subscription. */
  subscribe(listener: (resource: Resource, write: StoredWrite) => void): () => void
}

export type NewObject = Omit<KubeObject, 'metadata'> & { metadata: Partial<ObjectMeta> & { name: string } }
