import type { Clock } from '../../src/ports/clock.ts'
import type { Random } from '../../src/ports/random.ts'
import { objectIn } from './bodies.ts'
import { type CustomResource, kindsWith } from './kinds.ts'
import { timestamp } from './identity.ts'
import { listText } from './list.ts'
import { methodNotAllowed, Refusal } from './refusal.ts'
import { createResourceRequests } from './resource-requests.ts'
import { attributesOf, everybody, forbidden, permitReview, reviewed, rulesFor } from './rights.ts'
import { createRouter, type Route } from './route.ts'
import type { AdmissionHook, ApiAnswer, ApiRequest, ApiServer, Authorizer } from './server.ts'
import { createStorage } from './storage.ts'
import { createMutations } from './mutations.ts'
import { createStore } from './store.ts'
import { createWatches } from './watches.ts'

export interface ApiServerOptions {
  clock: Clock
  /** The source of uids and generated names. */
  random: Random
  /** The number of writes of each kind that a watch, or a page, may lie behind. Default 1,000. */
  watchWindow?: number
  /** The refusal of a watch from a forgotten version: in the stream (the default), or at once, as without a watch cache. */
  expiredWatch?: 'event' | 'answer'
  /** Serves Endpoints beside EndpointSlices. Discovery does not list them. */
  servesEndpoints?: boolean
  /** Keeps `metadata.managedFields`: the writer of each field. */
  managesFields?: boolean
  /** The custom resources beside the kinds that every API server has. Discovery does not list them. */
  customResources?: readonly CustomResource[]
}

const AUTHORIZATION = '/apis/authorization.k8s.io/v1'
const REVIEWS = `${AUTHORIZATION}/selfsubjectaccessreviews`
const RULES_REVIEWS = `${AUTHORIZATION}/selfsubjectrulesreviews`

/** Creates a Kubernetes API server without a network, a disk or a clock of its own. It begins with the namespace `default`. */
export function createApiServer(options: ApiServerOptions): ApiServer {
  const { clock, random, watchWindow = 1_000, expiredWatch = 'event', customResources = [] } = options
  const { servesEndpoints = false, managesFields = false } = options
  const kinds = kindsWith(customResources, servesEndpoints)
  const route = createRouter(kinds)
  const storage = createStorage(watchWindow, managesFields ? { now: () => timestamp(clock.wallNow()) } : undefined)
  const watches = createWatches(storage, clock, expiredWatch)
  const mutations = createMutations()
  const store = createStore(storage, kinds, { clock, random, mutated: mutations.mutated })
  const hooks: AdmissionHook[] = []
  const requests = createResourceRequests({ storage, clock, random, hooks, mutated: mutations.mutated })
  let authorize: Authorizer = everybody

  function permit(verb: string, at: Route, by: string): void {
    const attributes = attributesOf(verb, at)
    if (!authorize(by, attributes)) throw forbidden(by, attributes)
  }

  function serve(request: ApiRequest, by: string): ApiAnswer {
    const review = request.method === 'POST' ? reviewOf(request, by) : undefined
    if (review !== undefined) return json(201, JSON.stringify(review))
    const at = route(request.path)
    return at.name === undefined ? serveCollection(request, at, by) : serveObject(request, at, by)
  }

  /** Answers an access review, which is stored nowhere. Undefined where the request asks for none. */
  function reviewOf(request: ApiRequest, by: string): Record<string, unknown> | undefined {
    switch (request.path.split('?', 1)[0]) {
      case REVIEWS:
        permitReview('selfsubjectaccessreviews', by, authorize)
        return reviewed(objectIn(request, 'SelfSubjectAccessReview'), by, authorize)
      case RULES_REVIEWS:
        permitReview('selfsubjectrulesreviews', by, authorize)
        return rulesFor(objectIn(request, 'SelfSubjectRulesReview'), authorize)
      default:
        return undefined
    }
  }

  function serveCollection(request: ApiRequest, at: Route, by: string): ApiAnswer {
    switch (request.method) {
      case 'GET':
        if (isWatch(at)) throw new Error(`${request.path}: a watch is started by watch(), not by handle()`)
        permit('list', at, by)
        return json(200, listText(at, storage))
      case 'POST':
        if (at.kind.namespaced && at.namespace === undefined) throw methodNotAllowed()
        permit('create', at, by)
        return requests.create(at, request, by)
      default:
        throw methodNotAllowed()
    }
  }

  function serveObject(request: ApiRequest, at: Route, by: string): ApiAnswer {
    switch (request.method) {
      case 'GET':
        permit('get', at, by)
        return requests.get(at)
      case 'PUT':
        permit('update', at, by)
        return requests.replace(at, request, by)
      case 'PATCH':
        permit('patch', at, by)
        return requests.patch(at, request, by)
      case 'DELETE':
        if (at.subresource !== undefined) throw methodNotAllowed()
        permit('delete', at, by)
        return requests.remove(at, request, by)
      default:
        throw methodNotAllowed()
    }
  }

  store.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }, 'kube-apiserver')

  return {
    handle: (request, by) => unlessRefused(() => serve(request, by)).answer,
    watch(request, sink, by = 'somebody') {
      const opened = unlessRefused(() => {
        const at = route(request.path)
        permit('watch', at, by)
        return watches.open(at, sink)
      })
      return typeof opened.answer === 'function'
        ? { kind: 'watching', close: opened.answer }
        : { kind: 'refused', answer: opened.answer }
    },
    kinds,
    store,
    authorize: (rights) => {
      authorize = rights
    },
    admit: (hook) => hooks.push(hook),
    mutate: mutations.add,
    compact: () => storage.compact(),
    closeWatches: () => watches.end(),
    bookmark: () => watches.bookmark(),
  }
}

function isWatch({ query }: Route): boolean {
  return ['1', 'true'].includes(query.get('watch') ?? '')
}

function json(status: number, text: string): ApiAnswer {
  return { status, headers: { 'content-type': 'application/json' }, text }
}

/** Turns a Refusal into its answer. Any other error is a mistake of this server, or of a hook, and is thrown on. */
function unlessRefused<Result>(work: () => Result): { answer: Result | ApiAnswer } {
  try {
    return { answer: work() }
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}
