import type { KindName } from '../pods/workload-id.ts'

/** The API paths of the objects of one kind. */
export interface Resource {
  /** The name for RBAC and `kubectl`, for example `statefulsets.apps`. */
  readonly name: string
  collection(namespace: string): string
  object(namespace: string, name: string): string
}

export function resourceOf({ group, version, plural }: KindName): Resource {
  const base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const collection = (namespace: string): string => `${base}/namespaces/${encodeURIComponent(namespace)}/${plural}`
  return {
    name: group === '' ? plural : `${plural}.${group}`,
    collection,
    object: (namespace, name) => `${collection(namespace)}/${encodeURIComponent(name)}`,
  }
}

export const CONTROLLER_REVISIONS = resourceOf({
  group: 'apps',
  version: 'v1',
  kind: 'ControllerRevision',
  plural: 'controllerrevisions',
})
