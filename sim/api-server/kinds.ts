import type { KubeObject, ServedKind } from './server.ts'
import { isSameJson } from './same-json.ts'

/** The properties in which the API server treats kinds differently. */
export interface Kind extends ServedKind {
  /** The API group. Empty for the core group. */
  group: string
  /** True where the kind has a `/status` subresource. Only that subresource changes `status`. */
  hasStatus: boolean
  /** Reports whether a change starts a new generation. Undefined for kinds without generations. */
  isNewGeneration?: (before: KubeObject, after: KubeObject) => boolean
  /** True where a deletion answers with the object instead of a Status. */
  answersWithDeleted: boolean
  /** True where a PUT may leave out the resourceVersion. */
  unconditionalUpdate: boolean
  /** True where a PUT to a free name creates the object. */
  createsOnUpdate: boolean
}

type Fields = { nodeName?: unknown }

const newSpec = (before: KubeObject, after: KubeObject): boolean => !isSameJson(before['spec'], after['spec'])

/** A binding to a node starts no new generation (seen on 1.35.4). */
const newPodSpec = (before: KubeObject, after: KubeObject): boolean => newSpec(before, after) && !isBinding(before, after)

const isBinding = (before: KubeObject, after: KubeObject): boolean =>
  (before['spec'] as Fields).nodeName === undefined && (after['spec'] as Fields).nodeName !== undefined

/** The Deployment controller copies the annotations to ReplicaSets, so a change of annotations starts a new generation too. */
const newSpecOrAnnotations = (before: KubeObject, after: KubeObject): boolean =>
  newSpec(before, after) || !isSameJson(before.metadata.annotations, after.metadata.annotations)

/** All fields of an EndpointSlice count as its spec. */
const newEndpoints = (before: KubeObject, after: KubeObject): boolean =>
  !isSameJson({ ...before, metadata: before.metadata.labels }, { ...after, metadata: after.metadata.labels })

type Row = Pick<Kind, 'plural' | 'kind'> & Partial<Kind>

/** The kinds, by apiVersion. */
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

/** The kinds that every API server has. */
export const KINDS: readonly Kind[] = kindsIn(table)

/** A namespaced kind of a CustomResourceDefinition, with the status subresource. */
export interface CustomResource {
  /** The API version, such as `apps.example.dev/v1`. */
  apiVersion: string
  kind: string
  plural: string
}

/** Endpoints belong to the core group and are deprecated: an API server may have them switched off. */
const ENDPOINTS = kindsIn({ v1: [{ plural: 'endpoints', kind: 'Endpoints' }] })

/** Returns all kinds of one API server. */
export function kindsWith(custom: readonly CustomResource[], servesEndpoints: boolean): readonly Kind[] {
  const rows = custom.map(({ apiVersion, kind, plural }): [string, Row[]] => [
    apiVersion,
    [{ kind, plural, hasStatus: true, isNewGeneration: newSpec, answersWithDeleted: true, unconditionalUpdate: false }],
  ])
  return [...KINDS, ...(servesEndpoints ? ENDPOINTS : []), ...rows.flatMap((row) => kindsIn(Object.fromEntries([row])))]
}

/** Finds a kind by its resource. @throws Error for a kind that the embedded API server does not have: a mistake in the test */
export function kindAmong(kinds: readonly Kind[]): (resource: string) => Kind {
  const byResource = new Map(kinds.map((kind) => [kind.resource, kind]))
  return (resource) => {
    const kind = byResource.get(resource)
    if (kind === undefined)
      throw new Error(`the embedded API server has no ${resource}; it has ${[...byResource.keys()].join(', ')}`)
    return kind
  }
}

/** Finds one of the kinds that every API server has. @throws Error as `kindAmong` does */
export const kindOf = kindAmong(KINDS)
