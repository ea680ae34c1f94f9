import type { Clock } from '../../src/ports/clock.ts'
import type { Random } from '../../src/ports/random.ts'
import { objectIn, patched } from './bodies.ts'
import { deleted, isReleased } from './deletion.ts'
import { newSuffix } from './identity.ts'
import { type Kind, kindOf } from './kinds.ts'
import type { Mutated, UnmutatedWrite } from './mutations.ts'
import { deleteOptions, isDryRun } from './options.ts'
import { alreadyExists, badRequest, conflict, invalid, notFound, type Refusal, refusal } from './refusal.ts'
import type { Route } from './route.ts'
import type { AdmissionHook, ApiAnswer, ApiRequest, KubeObject } from './server.ts'
import { type Storage, textOf, type Version } from './storage.ts'
import { changeErrors, objectErrors } from './validate.ts'
import { created, expectVersion, updated, withGeneration } from './write.ts'

/** The requests about one object. Each throws a Refusal where it cannot be done. */
export interface ResourceRequests {
  get(at: Route): ApiAnswer
  create(at: Route, request: ApiRequest, by: string): ApiAnswer
  replace(at: Route, request: ApiRequest, by: string): ApiAnswer
  patch(at: Route, request: ApiRequest, by: string): ApiAnswer
  remove(at: Route, request: ApiRequest, by: string): ApiAnswer
}

export interface ResourceRequestsOptions {
  storage: Storage
  clock: Clock
  random: Random
  hooks: readonly AdmissionHook[]
  mutated: Mutated
}

const NAMESPACE = kindOf('namespaces')
const OTHER_NAMESPACE = 'the namespace of the provided object does not match the namespace sent on the request'

export function createResourceRequests({ storage, clock, random, hooks, mutated }: ResourceRequestsOptions): ResourceRequests {
  function present({ kind, namespace, name }: Route): Version {
    const version = storage.get(kind, namespace ?? '', name!)
    if (version === undefined) throw notFound(kind, name!)
    return version
  }

  /** Returns the object of a create or an update after all hooks. */
  function changed(kind: Kind, write: UnmutatedWrite): KubeObject {
    return admitted({ ...write, object: mutated(kind, write) })
  }

  /** Returns the object after the admission hooks. */
  function admitted(write: Parameters<AdmissionHook>[0]): KubeObject {
    let { object } = write
    for (const hook of hooks) {
      const verdict = hook({ ...write, object })
      if (verdict === undefined) continue
      if ('refuse' in verdict) throw refusal(403, 'Forbidden', verdict.refuse)
      object = verdict.object
    }
    return object
  }

  function createObject(at: Route, body: KubeObject, dryRun: boolean, by: string): ApiAnswer {
    const { kind, namespace } = at
    const fresh = newObject(at, body)
    if (namespace !== undefined && storage.get(NAMESPACE, '', namespace) === undefined) throw notFound(NAMESPACE, namespace)
    const object = changed(kind, { operation: 'CREATE', object: fresh, before: undefined, dryRun, by })
    expectNone(kind, object, objectErrors(kind, object))
    const { name } = object.metadata
    if (storage.get(kind, namespace ?? '', name) !== undefined) throw alreadyExists(kind, name)
    return dryRun ? answer(201, JSON.stringify(object)) : answer(201, textOf(storage.put(kind, object, by)))
  }

  function newObject({ kind, namespace }: Route, body: KubeObject): KubeObject {
    const { uid: _, resourceVersion: __, creationTimestamp: ___, deletionTimestamp: ____, ...metadata } = body.metadata
    const { generateName } = metadata
    const name = metadata.name || (typeof generateName === 'string' ? `${generateName}${newSuffix(random)}` : '')
    if (name === '') {
      const message = 'Required value: name or generateName is required'
      throw invalid(kind, '', [{ type: 'FieldValueRequired', message, field: 'metadata.name' }])
    }
    const named = { ...metadata, name, ...(namespace === undefined ? {} : { namespace }) }
    const { status, ...rest } = body
    return created(kind, { ...(kind.hasStatus || status === undefined ? rest : body), metadata: named }, { clock, random })
  }

  function updateObject(at: Route, before: Version, wanted: KubeObject, dryRun: boolean, by: string): ApiAnswer {
    const { kind, subresource } = at
    if ((wanted.metadata.namespace ?? at.namespace) !== at.namespace) throw badRequest(OTHER_NAMESPACE)
    if (wanted.metadata.name !== at.name) {
      throw badRequest(`the name of the object (${wanted.metadata.name}) does not match the name on the URL (${at.name})`)
    }
    const { managedFields } = before.object.metadata
    const own = storage.managesFields ? { ...wanted, metadata: { ...wanted.metadata, managedFields } } : wanted
    const asked = updated({ kind, before: before.object, wanted: own, subresource })
    const object = changed(kind, { operation: 'UPDATE', object: asked, before: before.object, dryRun, by })
    const complete = object === asked ? asked : withGeneration(kind, before.object, object)
    expectNone(kind, before.object, [...changeErrors(kind, before.object, complete), ...objectErrors(kind, complete)])
    if (dryRun) return answer(200, JSON.stringify(complete))
    // A write that changes nothing makes no new version and no event.
    if (complete === before.object) return answer(200, textOf(before))
    if (isReleased(complete)) {
      storage.remove(kind, at.namespace ?? '', at.name!, by)
      return answer(200, JSON.stringify(complete))
    }
    return answer(200, textOf(storage.put(kind, complete, by)))
  }

  return {
    get: (at) => answer(200, textOf(present(at))),

    create(at, request, by) {
      const body = bodyOf(at, request)
      const dryRun = isDryRun(at, 'CreateOptions')
      if ((body.metadata.namespace ?? at.namespace) !== at.namespace) throw badRequest(OTHER_NAMESPACE)
      if (body.metadata.resourceVersion)
        throw refusal(500, undefined, 'resourceVersion should not be set on objects to be created')
      return createObject(at, body, dryRun, by)
    },

    replace(at, request, by) {
      const { kind, namespace, name } = at
      const body = bodyOf(at, request)
      const dryRun = isDryRun(at, 'UpdateOptions')
      const before = storage.get(kind, namespace ?? '', name!)
      if (before === undefined) {
        if (!kind.createsOnUpdate || at.subresource !== undefined) throw notFound(kind, name!)
        if (body.metadata.uid) throw otherUid(at, body.metadata.uid, '')
        // This update creates the object, so any resourceVersion is accepted.
        expectVersion(kind, name!, body.metadata.resourceVersion)
        return createObject(at, body, dryRun, by)
      }
      const { uid } = body.metadata
      if (uid && uid !== before.object.metadata.uid) throw otherUid(at, uid, before.object.metadata.uid)
      return updateObject(at, before, body, dryRun, by)
    },

    patch(at, request, by) {
      const before = present(at)
      return updateObject(at, before, patched(request, before.object), isDryRun(at, 'PatchOptions'), by)
    },

    remove(at, request, by) {
      const { kind, name, namespace } = at
      const before = present(at)
      const options = deleteOptions(at, request.body ? objectIn(request, 'DeleteOptions') : undefined)
      expectPreconditions(kind, before.object, options.preconditions ?? {})
      admitted({ operation: 'DELETE', object: before.object, before: before.object, dryRun: options.dryRun, by })
      const { object, isEnd } = deleted(before.object, options.gracePeriodSeconds, clock.wallNow())
      if (isEnd) {
        if (!options.dryRun) {
          // A watch sees the end of a pod's grace before it sees the deletion of the pod.
          if (object !== before.object) storage.put(kind, object, by)
          storage.remove(kind, namespace ?? '', name!, by)
        }
        return answer(200, kind.answersWithDeleted ? JSON.stringify(object) : success(kind, object))
      }
      if (options.dryRun || object === before.object) return answer(200, JSON.stringify(object))
      return answer(200, textOf(storage.put(kind, object, by)))
    },
  }
}

function answer(status: number, text: string): ApiAnswer {
  return { status, headers: { 'content-type': 'application/json' }, text }
}

/** Returns the object of a POST or a PUT. The path supplies a missing apiVersion or kind. */
function bodyOf({ kind }: Route, request: ApiRequest): KubeObject {
  const body = objectIn(request, kind.kind)
  const { apiVersion = kind.apiVersion, kind: given = kind.kind, metadata = {} } = body as Partial<KubeObject>
  if (apiVersion !== kind.apiVersion || given !== kind.kind) {
    throw badRequest(`${given} in version "${apiVersion}" cannot be handled as a ${kind.kind}: unknown conversion`)
  }
  return { ...body, apiVersion, kind: given, metadata: metadata as KubeObject['metadata'] }
}

function expectNone(kind: Kind, { metadata }: KubeObject, errors: Parameters<typeof invalid>[2]): void {
  if (errors.length > 0) throw invalid(kind, metadata.name, errors)
}

function otherUid({ kind, namespace, name }: Route, uid: string, found: string): Refusal {
  const key = `/registry/${kind.plural}/${namespace === undefined ? '' : `${namespace}/`}${name}`
  const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${found}`
  return conflict(
    kind,
    name!,
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`,
  )
}

function expectPreconditions(kind: Kind, { metadata }: KubeObject, wanted: { uid?: string; resourceVersion?: string }): void {
  // This refusal names the object by its kind.
  const named = { ...kind, plural: kind.kind, resource: kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}` }
  if (wanted.uid !== undefined && wanted.uid !== metadata.uid) {
    const why = `the UID in the precondition (${wanted.uid}) does not match the UID in record (${metadata.uid}).`
    throw conflict(named, metadata.name, `${why} The object might have been deleted and then recreated`)
  }
  if (wanted.resourceVersion !== undefined && wanted.resourceVersion !== metadata.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${wanted.resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}).`
    throw conflict(named, metadata.name, `${why} The object might have been modified`)
  }
}

function success(kind: Kind, { metadata: { name, uid } }: KubeObject): string {
  const details = { name, ...(kind.group === '' ? {} : { group: kind.group }), kind: kind.plural, uid }
  return JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details })
}
