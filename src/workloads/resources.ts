import type { WorkloadKind } from '../plan/plan.ts'

/** Where objects of one kind live in the API. */
export interface Resource {
  /** As RBAC and `kubectl` name it, for example `statefulsets.apps`. */
  readonly name: string
  collection(namespace: string): string
  object(namespace: string, name: string): string
}

function resource(groupVersion: string, plural: string, group: string): Resource {
  const collection = (namespace: string): string => `${groupVersion}/namespaces/${encodeURIComponent(namespace)}/${plural}`
  return {
    name: group === '' ? plural : `${plural}.${group}`,
    collection,
    object: (namespace, name) => `${collection(namespace)}/${encodeURIComponent(name)}`,
  }
}

export const PODS = resource('/api/v1', 'pods', '')
export const STATEFUL_SETS = resource('/apis/apps/v1', 'statefulsets', 'apps')
export const DAEMON_SETS = resource('/apis/apps/v1', 'daemonsets', 'apps')
export const DEPLOYMENTS = resource('/apis/apps/v1', 'deployments', 'apps')
export const REPLICA_SETS = resource('/apis/apps/v1', 'replicasets', 'apps')
export const CONTROLLER_REVISIONS = resource('/apis/apps/v1', 'controllerrevisions', 'apps')

export function resourceOf(kind: WorkloadKind): Resource {
  return { Pod: PODS, StatefulSet: STATEFUL_SETS, DaemonSet: DAEMON_SETS, Deployment: DEPLOYMENTS }[kind]
}

/** As a person writes it: `statefulset/web`. */
export function displayName(ref: { kind: WorkloadKind; name: string }): string {
  return `${ref.kind.toLowerCase()}/${ref.name}`
}
