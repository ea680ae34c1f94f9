import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, fetch } from 'undici'
import type { ClusterInfo } from './cluster-info.ts'

/** Any Kubernetes object, as the API server gave it: tests look at what they need. */
// oxlint-disable-next-line no-explicit-any
export type KubeObject = any

/** The data of an object that its path needs. */
export interface ObjectReference {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string }
}

export class KubeApiError extends Error {
  readonly status: number
  readonly body: KubeObject
  constructor(method: string, path: string, status: number, body: KubeObject) {
    super(`${method} ${path}: ${status} ${body?.reason ?? ''} ${body?.message ?? JSON.stringify(body)}`)
    this.name = 'KubeApiError'
    this.status = status
    this.body = body
  }
}

export type PatchKind = 'json' | 'merge' | 'strategic' | 'apply'

export interface WaitOptions {
  timeoutMs?: number
  intervalMs?: number
}

/** The API of the cluster as its administrator, from the host. It is kept small, and is not the client of sluice. */
export interface KubeApi {
  request(method: string, path: string, body?: unknown, contentType?: string): Promise<KubeObject>
  /** Creates each object, or changes it to the given state (server-side apply). Namespaces come first. */
  apply(...objects: KubeObject[]): Promise<KubeObject[]>
  /** Reads every line of a watch until it is aborted. The path has the version to begin after. */
  watch(path: string, onEvent: (event: { type: string; object: KubeObject }) => void, signal: AbortSignal): Promise<void>
  get(kind: string, name: string, namespace?: string): Promise<KubeObject>
  list(kind: string, namespace?: string, labelSelector?: string): Promise<KubeObject[]>
  patch(
    kind: string,
    name: string,
    namespace: string | undefined,
    patch: unknown,
    type?: PatchKind,
    subresource?: string,
  ): Promise<KubeObject>
  /** Deletes an object. A missing object is no error. With `gracePeriodSeconds: 0` a pod is removed at once. */
  delete(
    kind: string,
    name: string,
    namespace?: string,
    options?: { gracePeriodSeconds?: number; propagationPolicy?: string },
  ): Promise<void>
  /** Reads until the condition returns a truthy value. Fails with the last state that it read. */
  waitFor<S, R>(
    what: string,
    read: () => Promise<S>,
    condition: (state: S) => R | undefined | null | false,
    options?: WaitOptions,
  ): Promise<R>
  /** Works as waitFor on one object, by kind and name. */
  waitForObject<R>(
    kind: string,
    name: string,
    namespace: string | undefined,
    condition: (object: KubeObject) => R | undefined | null | false,
    options?: WaitOptions,
  ): Promise<R>
  close(): Promise<void>
}

interface Resource {
  group: string
  plural: string
  namespaced: boolean
}

const resources: Record<string, Resource> = {
  Namespace: { group: 'api/v1', plural: 'namespaces', namespaced: false },
  Node: { group: 'api/v1', plural: 'nodes', namespaced: false },
  Pod: { group: 'api/v1', plural: 'pods', namespaced: true },
  Service: { group: 'api/v1', plural: 'services', namespaced: true },
  ServiceAccount: { group: 'api/v1', plural: 'serviceaccounts', namespaced: true },
  ConfigMap: { group: 'api/v1', plural: 'configmaps', namespaced: true },
  Secret: { group: 'api/v1', plural: 'secrets', namespaced: true },
  Event: { group: 'api/v1', plural: 'events', namespaced: true },
  ResourceQuota: { group: 'api/v1', plural: 'resourcequotas', namespaced: true },
  StatefulSet: { group: 'apis/apps/v1', plural: 'statefulsets', namespaced: true },
  DaemonSet: { group: 'apis/apps/v1', plural: 'daemonsets', namespaced: true },
  Deployment: { group: 'apis/apps/v1', plural: 'deployments', namespaced: true },
  ReplicaSet: { group: 'apis/apps/v1', plural: 'replicasets', namespaced: true },
  ControllerRevision: { group: 'apis/apps/v1', plural: 'controllerrevisions', namespaced: true },
  Endpoints: { group: 'api/v1', plural: 'endpoints', namespaced: true },
  EndpointSlice: { group: 'apis/discovery.k8s.io/v1', plural: 'endpointslices', namespaced: true },
  Lease: { group: 'apis/coordination.k8s.io/v1', plural: 'leases', namespaced: true },
  PodDisruptionBudget: { group: 'apis/policy/v1', plural: 'poddisruptionbudgets', namespaced: true },
  Role: { group: 'apis/rbac.authorization.k8s.io/v1', plural: 'roles', namespaced: true },
  RoleBinding: { group: 'apis/rbac.authorization.k8s.io/v1', plural: 'rolebindings', namespaced: true },
  ClusterRole: { group: 'apis/rbac.authorization.k8s.io/v1', plural: 'clusterroles', namespaced: false },
  ClusterRoleBinding: { group: 'apis/rbac.authorization.k8s.io/v1', plural: 'clusterrolebindings', namespaced: false },
  ValidatingAdmissionPolicy: {
    group: 'apis/admissionregistration.k8s.io/v1',
    plural: 'validatingadmissionpolicies',
    namespaced: false,
  },
  ValidatingAdmissionPolicyBinding: {
    group: 'apis/admissionregistration.k8s.io/v1',
    plural: 'validatingadmissionpolicybindings',
    namespaced: false,
  },
  MutatingWebhookConfiguration: {
    group: 'apis/admissionregistration.k8s.io/v1',
    plural: 'mutatingwebhookconfigurations',
    namespaced: false,
  },
  ValidatingWebhookConfiguration: {
    group: 'apis/admissionregistration.k8s.io/v1',
    plural: 'validatingwebhookconfigurations',
    namespaced: false,
  },
  CustomResourceDefinition: { group: 'apis/apiextensions.k8s.io/v1', plural: 'customresourcedefinitions', namespaced: false },
}

const patchTypes: Record<PatchKind, string> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
}

/** Returns the path of a resource or of one object. An unknown kind can be given as `group/version/plural`. */
export function pathOf(kind: string, namespace?: string, name?: string): string {
  const known = resources[kind]
  const split = kind.lastIndexOf('/')
  if (known === undefined && split < 0) {
    throw new Error(`kind ${kind} is not in the list of test/cluster/kube-api.ts`)
  }
  const { group, plural, namespaced } = known ?? {
    group: `apis/${kind.slice(0, split)}`,
    plural: kind.slice(split + 1),
    namespaced: namespace !== undefined,
  }
  const scope = namespaced && namespace !== undefined ? `/namespaces/${namespace}` : ''
  return `/${group}${scope}/${plural}${name === undefined ? '' : `/${name}`}`
}

export function connectApi(info: ClusterInfo): KubeApi {
  const connect = { ca: readFileSync(join(info.dir, 'certs', 'ca.crt'), 'utf8') }
  const agent = new Agent({ connect, headersTimeout: 30_000, bodyTimeout: 30_000 })
  // A watch is silent while nothing changes.
  const watchAgent = new Agent({ connect, headersTimeout: 30_000, bodyTimeout: 0 })
  const token = info.identities.find((identity) => identity.user === 'admin')?.token ?? ''
  const base = `https://127.0.0.1:${info.apiPort}`

  async function request(method: string, path: string, body?: unknown, contentType = 'application/json'): Promise<KubeObject> {
    const response = await fetch(base + path, {
      method,
      dispatcher: agent,
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': contentType }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const parsed = parseBody(text)
    if (!response.ok) {
      throw new KubeApiError(method, path, response.status, parsed)
    }
    return parsed
  }

  async function apply(...objects: KubeObject[]): Promise<KubeObject[]> {
    const flat = objects.flat() as KubeObject[]
    const first = flat.filter((object) => object.kind === 'Namespace')
    const applied: KubeObject[] = []
    for (const object of [...first, ...flat.filter((other) => other.kind !== 'Namespace')]) {
      const path = pathOf(object.kind, object.metadata.namespace ?? 'default', object.metadata.name)
      applied.push(await request('PATCH', `${path}?fieldManager=test&force=true`, object, patchTypes.apply))
    }
    return applied
  }

  async function remove(
    kind: string,
    name: string,
    namespace?: string,
    options?: { gracePeriodSeconds?: number; propagationPolicy?: string },
  ): Promise<void> {
    try {
      await request('DELETE', pathOf(kind, namespace, name), { apiVersion: 'v1', kind: 'DeleteOptions', ...options })
    } catch (error) {
      if (!(error instanceof KubeApiError && error.status === 404)) throw error
    }
  }

  async function watch(
    path: string,
    onEvent: (event: { type: string; object: KubeObject }) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json' }
    try {
      const response = await fetch(base + path, { dispatcher: watchAgent, headers, signal })
      let rest = ''
      for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
        const lines = (rest + text).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) onEvent(JSON.parse(line))
      }
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  const get = (kind: string, name: string, namespace?: string) => request('GET', pathOf(kind, namespace, name))

  return {
    request,
    apply,
    watch,
    get,
    async list(kind, namespace, labelSelector) {
      const query = labelSelector === undefined ? '' : `?labelSelector=${encodeURIComponent(labelSelector)}`
      return (await request('GET', pathOf(kind, namespace) + query)).items
    },
    patch(kind, name, namespace, patch, type = Array.isArray(patch) ? 'json' : 'merge', subresource) {
      const path = pathOf(kind, namespace, name) + (subresource === undefined ? '' : `/${subresource}`)
      const query = type === 'apply' ? '?fieldManager=test&force=true' : ''
      return request('PATCH', path + query, patch, patchTypes[type])
    },
    delete: remove,
    waitFor,
    waitForObject(kind, name, namespace, condition, options) {
      return waitFor(`${kind} ${namespace ?? ''}/${name}`, () => get(kind, name, namespace), condition, options)
    },
    async close() {
      await Promise.all([agent.destroy(), watchAgent.destroy()])
    },
  }
}

/** Reads until the condition returns a truthy value. Fails with the last state that it read. */
export async function waitFor<S, R>(
  what: string,
  read: () => Promise<S>,
  condition: (state: S) => R | undefined | null | false,
  options: WaitOptions = {},
): Promise<R> {
  const timeoutMs = options.timeoutMs ?? 30_000
  const deadline = performance.now() + timeoutMs
  let last: unknown = 'nothing yet'
  while (performance.now() < deadline) {
    try {
      const state = await read()
      last = state
      const result = condition(state)
      if (result !== undefined && result !== null && result !== false) {
        return result
      }
    } catch (error) {
      last = error // absent for now, or the API server restarts: what counts is the end
    }
    await sleep(options.intervalMs ?? 100)
  }
  throw new Error(`waited ${timeoutMs} ms in vain for ${what}; last seen: ${describe(last)}`)
}

function describe(state: unknown): string {
  return (state instanceof Error ? String(state) : (JSON.stringify(state, withoutNoise) ?? 'undefined')).slice(0, 4_000)
}

function withoutNoise(key: string, value: unknown): unknown {
  return key === 'managedFields' ? undefined : value
}

function parseBody(text: string): KubeObject {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
