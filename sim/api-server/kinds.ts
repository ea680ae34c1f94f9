import type { KubeObject, ServedKind } from './server.ts'
import { isSameJson } from './same-json.ts'

/** What the API server does differently from kind to kind. */
export interface Kind extends ServedKind {
  /** Empty for the core group. */
  group: string
  /** Has a `/status` of its own, which alone changes `status`. */
  hasStatus: boolean
  /** Starts a new generation; undefined for kinds that have no generations. */
  isNewGeneration?: (before: KubeObject, after: KubeObject) => boolean
  /** A deletion answers with the object instead of a Status. */
  answersWithDeleted: boolean
  /** A PUT may leave out the resourceVersion. */
  unconditionalUpdate: boolean
  /** A PUT to a name that is free creates the object. */
  createsOnUpdate: boolean
}

type Fields = { nodeName?: unknown }

const newSpec = (before: KubeObject, after: KubeObject): boolean => !isSameJson(before['spec'], after['spec'])

/** A binding to a node is no new generation (seen on 1.35.4). */
const newPodSpec = (before: KubeObject, after: KubeObject): boolean => newSpec(before, after) && !isBinding(before, after)

const isBinding = (before: KubeObject, after: KubeObject): boolean =>
  (before['spec'] as Fields).nodeName === undefined && (after['spec'] as Fields).nodeName !== undefined

/** The Deployment controller copies the annotations to ReplicaSets, so they count too. */
const newSpecOrAnnotations = (before: KubeObject, after: KubeObject): boolean =>
  newSpec(before, after) || !isSameJson(before.metadata.annotations, after.metadata.annotations)

/** All of an EndpointSlice is its spec. */
const newEndpoints = (before: KubeObject, after: KubeObject): boolean =>
  !isSameJson({ ...before, metadata: before.metadata.labels }, { ...after, metadata: after.metadata.labels })

type Row = Pick<Kind, 'plural' | 'kind'> & Partial<Kind>

/** By apiVersion. */
type Table = Record<string, Row[]>

const table: Table = {
  v1: [
    { plural: 'pods', kind: 'Pod', hasStatus: true, isNewGeneration: newPodSpec, answersWithDeleted: true },
    { plural: 'services', kind: 'Service', hasStatus: true, answersWithDeleted: true },
    { plural: 'nodes', kind: 'Node', hasStatus: true, namespaced: false },
    { plural: 'namespaces', kind: 'Namespace', hasStatus: true, namespaced: false },
    { plural: 'configmaps', kind: 'ConfigMap' },
    { plural: 'events', kind: 'Event', createsOnUpdate: true },
  ],
  'apps/v1': [
    { plural: 'statefulsets', kind: 'StatefulSet', hasStatus: true, isNewGeneration: newSpec },
    { plural: 'daemonsets', kind: 'DaemonSet', hasStatus: true, isNewGeneration: newSpec },
    { plural: 'deployments', kind: 'Deployment', hasStatus: true, isNewGeneration: newSpecOrAnnotations },
    { plural: 'replicasets', kind: 'ReplicaSet', hasStatus: true, isNewGeneration: newSpec },
    { plural: 'controllerrevisions', kind: 'ControllerRevision' },
  ],
  'coordination.k8s.io/v1': [{ plural: 'leases', kind: 'Lease', unconditionalUpdate: false, createsOnUpdate: true }],
  'discovery.k8s.io/v1': [{ plural: 'endpointslices', kind: 'EndpointSlice', isNewGeneration: newEndpoints }],
}

function kindsIn(rowsOf: Table): Kind[] {
  return Object.entries(rowsOf).flatMap(([apiVersion, rows]) => {
    const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
    return rows.map((row) => ({
      resource: group === '' ? row.plural : `${row.plural}.${group}`,
      group,
      apiVersion,
      namespaced: true,
      hasStatus: false,
      answersWithDeleted: false,
      unconditionalUpdate: true,
      createsOnUpdate: false,
      ...row,
    }))
  })
}

/** Those that every API server has. */
export const KINDS: readonly Kind[] = kindsIn(table)

/** A namespaced kind of a CustomResourceDefinition, with the status subresource. */
export interface CustomResource {
  /** Such as `apps.example.dev/v1`. */
  apiVersion: string
  kind: string
  plural: string
}

/** Of the core group, and on its way out: an API server may have it switched off. */
const ENDPOINTS = kindsIn({ v1: [{ plural: 'endpoints', kind: 'Endpoints' }] })

/** All kinds of one API server. */
export function kindsWith(custom: readonly CustomResource[], servesEndpoints: boolean): readonly Kind[] {
  const rows = custom.map(({ apiVersion, kind, plural }): [string, Row[]] => [
    apiVersion,
    [{ kind, plural, hasStatus: true, isNewGeneration: newSpec, answersWithDeleted: true, unconditionalUpdate: false }],
  ])
  return [...KINDS, ...(servesEndpoints ? ENDPOINTS : []), ...rows.flatMap((row) => kindsIn(Object.fromEntries([row])))]
}

/** @throws Error for a kind that the embedded API server does not have: a mistake of whoever wrote the test. */
export function kindAmong(kinds: readonly Kind[]): (resource: string) => Kind {
  const byResource = new Map(kinds.map((kind) => [kind.resource, kind]))
  return (resource) => {
    const kind = byResource.get(resource)
    if (kind === undefined)
      throw new Error(`the embedded API server has no ${resource}; it has ${[...byResource.keys()].join(', ')}`)
    return kind
  }
}

/** One of those that every API server has. */
export const kindOf = kindAmong(KINDS)
