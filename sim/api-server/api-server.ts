import type { Clock } from '../../src/ports/clock.ts'
import type { Random } from '../../src/ports/random.ts'
import { parsedBody, patched } from './bodies.ts'
import { newSuffix, timestamp } from './identity.ts'
import { type Kind, kindOf } from './kinds.ts'
import { listText } from './list.ts'
import { alreadyExists, answerOf, badRequest, conflict, invalid, notFound, Refusal } from './refusal.ts'
import { attributesOf, forbidden, reviewed } from './rights.ts'
import { type Route, route } from './route.ts'
import type { AdmissionHook, ApiAnswer, ApiRequest, ApiServer, Authorizer, KubeObject, Store } from './server.ts'
import { createStorage, textOf, type Version } from './storage.ts'
import { changeErrors, objectErrors } from './validate.ts'
import { createWatches } from './watches.ts'
import { created, updated, withGeneration } from './write.ts'

export interface ApiServerOptions {
  clock: Clock
  /** For uids and generated names. */
  random: Random
  /** How many writes of each kind a watch, or a page, may lie behind. Default 1,000. */
  watchWindow?: number
}

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
const NAMESPACE = kindOf('namespaces')
const JSON_CONTENT = { 'content-type': 'application/json' }

export function createApiServer({ clock, random, watchWindow = 1_000 }: ApiServerOptions): ApiServer {
  const storage = createStorage(watchWindow)
  const watches = createWatches(storage, clock)
  const hooks: AdmissionHook[] = []
  let authorize: Authorizer = () => true

  function permit(verb: string, at: Route, by: string): void {
    const attributes = attributesOf(verb, at)
    if (!authorize(by, attributes)) throw forbidden(by, attributes)
  }

  function present({ kind, namespace, name }: Route): Version {
    const version = storage.get(kind, namespace ?? '', name!)
    if (version === undefined) throw notFound(kind, name!)
    return version
  }

  /** What the admission hooks make of a write. */
  function admitted(
    operation: 'CREATE' | 'UPDATE' | 'DELETE',
    object: KubeObject,
    before: KubeObject | undefined,
    by: string,
    dryRun: boolean,
  ): KubeObject {
    let result = object
    for (const hook of hooks) {
      const verdict = hook({ operation, object: result, before, dryRun, by })
      if (verdict === undefined) continue
      if ('refuse' in verdict) throw new Refusal(403, 'Forbidden', verdict.refuse)
      result = verdict.object
    }
    return result
  }

  function answer(status: number, version: Version): ApiAnswer {
    return { status, headers: JSON_CONTENT, text: textOf(version) }
  }

  /** Of a dry run: what would have been stored, under the version that is. */
  function rehearsed(status: number, object: KubeObject): ApiAnswer {
    return { status, headers: JSON_CONTENT, text: JSON.stringify(object) }
  }

  function create(at: Route, body: KubeObject, by: string): ApiAnswer {
    const { kind, namespace } = at
    expectKind(kind, body)
    const given = body.metadata ?? {}
    if (namespace !== undefined && given.namespace !== undefined && given.namespace !== namespace) {
      throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
    }
    const generateName = given['generateName']
    const name = given.name || (typeof generateName === 'string' ? `${generateName}${newSuffix(random)}` : '')
    if (name === '') {
      const message = 'Required value: name or generateName is required'
      throw invalid(kind, '', [{ type: 'FieldValueRequired', message, field: 'metadata.name' }])
    }
    if (given.resourceVersion) throw badRequest('resourceVersion should not be set on objects to be created')
    if (namespace !== undefined && storage.get(NAMESPACE, '', namespace) === undefined) throw notFound(NAMESPACE, namespace)
    const { uid: _, creationTimestamp: __, deletionTimestamp: ___, ...metadata } = given
    const { status: ____, ...rest } = body
    const fresh = created(
      kind,
      { ...(kind.hasStatus ? rest : body), metadata: { ...metadata, name, ...(namespace === undefined ? {} : { namespace }) } },
      { clock, random },
    )
    const dryRun = isDryRun(at)
    const object = admitted('CREATE', fresh, undefined, by, dryRun)
    expectValid(kind, object)
    if (storage.get(kind, namespace ?? '', name) !== undefined) throw alreadyExists(kind, name)
    return dryRun ? rehearsed(201, object) : answer(201, storage.put(kind, object, by))
  }

  function update(at: Route, before: Version, wanted: KubeObject, by: string): ApiAnswer {
    const { kind, subresource } = at
    expectKind(kind, wanted)
    const asked = updated({ kind, before: before.object, wanted, subresource })
    const dryRun = isDryRun(at)
    const object =
      hooks.length === 0 ? asked : withGeneration(kind, before.object, admitted('UPDATE', asked, before.object, by, dryRun))
    expectValid(kind, object, before.object)
    if (dryRun) return rehearsed(200, object)
    // A write that changes nothing is none: no new version, no event.
    if (object === before.object) return answer(200, before)
    if (isReleased(object)) return answer(200, storage.remove(kind, at.namespace ?? '', at.name!, by)!)
    return answer(200, storage.put(kind, object, by))
  }

  function replace(at: Route, body: KubeObject, by: string): ApiAnswer {
    const before = storage.get(at.kind, at.namespace ?? '', at.name!)
    if (before !== undefined) return update(at, before, body, by)
    if (!at.kind.createsOnUpdate || at.subresource !== undefined) throw notFound(at.kind, at.name!)
    return create(at, body, by)
  }

  function remove(request: ApiRequest, at: Route, by: string): ApiAnswer {
    const { kind, name, namespace } = at
    const before = present(at)
    const options = (request.body ? parsedBody(request) : {}) as DeleteOptions
    const { metadata } = before.object
    const { uid, resourceVersion } = options.preconditions ?? {}
    if (uid !== undefined && uid !== metadata.uid) {
      throw conflict(kind, name!, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`)
    }
    if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
      const why = `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${metadata.resourceVersion}`
      throw conflict(kind, name!, why)
    }
    const dryRun = isDryRun(at) || options.dryRun?.includes('All') === true
    admitted('DELETE', before.object, before.object, by, dryRun)
    const asked = options.gracePeriodSeconds ?? numberIn(at.query, 'gracePeriodSeconds')
    const going = leaving(before.object, asked, clock.wallNow())
    if (dryRun) return going === undefined ? success(kind, before.object) : rehearsed(200, going)
    if (going !== undefined) return answer(200, going === before.object ? before : storage.put(kind, going, by))
    const last = storage.remove(kind, namespace ?? '', name!, by)!
    return kind.answersWithDeleted ? answer(200, last) : success(kind, last.object)
  }

  function serve(request: ApiRequest, by: string): ApiAnswer {
    if (request.method === 'POST' && request.path.split('?', 1)[0] === REVIEWS) {
      return {
        status: 201,
        headers: JSON_CONTENT,
        text: JSON.stringify(reviewed(parsedBody(request) as Record<string, unknown>, by, authorize)),
      }
    }
    const at = route(request.path)
    const { kind, name } = at
    if (name === undefined) {
      switch (request.method) {
        case 'GET':
          permit('list', at, by)
          return { status: 200, headers: JSON_CONTENT, text: listText(at, storage) }
        case 'POST':
          if (kind.namespaced && at.namespace === undefined) throw methodNotAllowed()
          permit('create', at, by)
          return create(at, asObject(parsedBody(request)), by)
        default:
          throw methodNotAllowed()
      }
    }
    switch (request.method) {
      case 'GET':
        permit('get', at, by)
        return answer(200, present(at))
      case 'PUT':
        permit('update', at, by)
        return replace(at, asObject(parsedBody(request)), by)
      case 'PATCH': {
        permit('patch', at, by)
        const before = present(at)
        return update(at, before, patched(request, before.object), by)
      }
      case 'DELETE':
        if (at.subresource !== undefined) throw methodNotAllowed()
        permit('delete', at, by)
        return remove(request, at, by)
      default:
        throw methodNotAllowed()
    }
  }

  function refusing<Result>(work: () => Result, refused: (answer: ApiAnswer) => Result): Result {
    try {
      return work()
    } catch (error) {
      if (error instanceof Refusal) return refused(answerOf(error))
      throw error
    }
  }

  const store: Store = {
    get: (resource, namespace, name) => storage.get(kindOf(resource), namespace, name)?.object,
    list: (resource, namespace) => storage.list(kindOf(resource), namespace)!.map(({ object }) => object),
    create(resource, object, by) {
      const kind = kindOf(resource)
      const { namespace = '', name } = object.metadata
      if (storage.get(kind, namespace, name) !== undefined) throw new Error(`${resource} ${namespace}/${name} exists already`)
      return storage.put(kind, created(kind, object, { clock, random }), by).object
    },
    update(resource, namespace, name, change, by) {
      const kind = kindOf(resource)
      const before = storage.get(kind, namespace, name)
      const wanted = before && change(before.object)
      if (before === undefined || wanted === undefined) return before?.object
      const object = withGeneration(kind, before.object, wanted)
      return object === before.object ? object : storage.put(kind, object, by).object
    },
    remove: (resource, namespace, name, by) => storage.remove(kindOf(resource), namespace, name, by)?.object,
    subscribe: (listener) =>
      storage.onEvent(({ kind, verb, before, now, by }) =>
        listener(kind.resource, { verb, before: before?.object, after: verb === 'delete' ? undefined : now.object, by }),
      ),
  }
  store.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }, 'api-server')

  return {
    handle: (request, by) =>
      refusing(
        () => serve(request, by),
        (refused) => refused,
      ),
    watch: (request, sink, by = 'somebody') =>
      refusing<ReturnType<ApiServer['watch']>>(
        () => {
          const at = route(request.path)
          permit('watch', at, by)
          return { kind: 'watching', close: watches.open(at, sink) }
        },
        (refused) => ({ kind: 'refused', answer: refused }),
      ),
    store,
    authorize: (rights) => {
      authorize = rights
    },
    admit: (hook) => hooks.push(hook),
    compact: () => storage.compact(),
    closeWatches: () => watches.end(),
    bookmark: () => watches.bookmark(),
  }
}

interface DeleteOptions {
  gracePeriodSeconds?: number
  preconditions?: { uid?: string; resourceVersion?: string }
  dryRun?: string[]
}

function isDryRun({ query }: Route): boolean {
  const value = query.get('dryRun')
  if (value !== null && value !== 'All') throw badRequest(`dryRun: Unsupported value: "${value}": supported values: "All"`)
  return value === 'All'
}

function numberIn(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name)
  return value === null ? undefined : Number(value)
}

function asObject(body: unknown): KubeObject {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw badRequest('the body of the request is no object')
  return body as KubeObject
}

function expectKind(kind: Kind, { apiVersion = kind.apiVersion, kind: given = kind.kind }: Partial<KubeObject>): void {
  if (apiVersion !== kind.apiVersion) {
    throw badRequest(`the API version in the data (${apiVersion}) does not match the expected API version (${kind.apiVersion})`)
  }
  if (given !== kind.kind) throw badRequest(`the kind in the data (${given}) does not match the expected kind (${kind.kind})`)
}

function expectValid(kind: Kind, object: KubeObject, before?: KubeObject): void {
  const errors = [...objectErrors(kind, object), ...(before === undefined ? [] : changeErrors(kind, before, object))]
  if (errors.length > 0) throw invalid(kind, object.metadata.name, errors)
}

/**
 * A pod on a node is deleted by its kubelet, once its containers have ended; the API server only says that it should.
 * What has finalizers waits for them. Undefined where the object goes at once.
 */
function leaving(object: KubeObject, asked: number | undefined, wallNow: number): KubeObject | undefined {
  const finalizers = object.metadata['finalizers']
  const held = Array.isArray(finalizers) && finalizers.length > 0
  const seconds = graceOf(object, asked)
  if (seconds === 0 && !held) return undefined
  const { deletionTimestamp, deletionGracePeriodSeconds, generation } = object.metadata
  // A second deletion can only shorten the grace of the first.
  if (deletionTimestamp !== undefined && (asked === undefined || seconds >= (deletionGracePeriodSeconds ?? 0))) return object
  return {
    ...object,
    metadata: {
      ...object.metadata,
      deletionTimestamp: timestamp(wallNow + seconds * 1000),
      deletionGracePeriodSeconds: seconds,
      ...(generation === undefined ? {} : { generation: generation + 1 }),
    },
  }
}

function graceOf(object: KubeObject, asked: number | undefined): number {
  if (object.kind !== 'Pod') return 0
  const { nodeName, terminationGracePeriodSeconds } = (object['spec'] ?? {}) as Record<string, unknown>
  const { phase } = (object['status'] ?? {}) as Record<string, unknown>
  if (nodeName === undefined || phase === 'Succeeded' || phase === 'Failed') return 0
  return asked ?? (typeof terminationGracePeriodSeconds === 'number' ? terminationGracePeriodSeconds : 30)
}

/** The last finalizer of a deleted object is gone, and nothing else keeps it. */
function isReleased({ metadata }: KubeObject): boolean {
  const finalizers = metadata['finalizers']
  const held = Array.isArray(finalizers) && finalizers.length > 0
  return metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0 && !held
}

function success(kind: Kind, { metadata: { name, uid } }: KubeObject): ApiAnswer {
  const details = { name, ...(kind.group === '' ? {} : { group: kind.group }), kind: kind.plural, uid }
  const text = JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details })
  return { status: 200, headers: JSON_CONTENT, text }
}

function methodNotAllowed(): Refusal {
  return new Refusal(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {})
}
