import { isSameJson } from './same-json.ts'
import type { KubeObject } from './server.ts'

/** One entry of `metadata.managedFields`, with the fields that clients read. */
interface Entry {
  manager: string
  operation: 'Update'
  apiVersion: string
  time: string
  fieldsType: 'FieldsV1'
  fieldsV1: Tree
}

interface Tree {
  [field: string]: Tree
}

/** Fields that the server alone decides. They have no owner. */
const SERVERS_OWN = new Set([
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
])
/** Lists whose items have owners of their own, with the key of an item. Each other list has one owner as a whole. */
const KEYS: Readonly<Record<string, string>> = {
  conditions: 'type',
  containers: 'name',
  initContainers: 'name',
  containerStatuses: 'name',
  initContainerStatuses: 'name',
  ownerReferences: 'uid',
}

/** Records the owner of each field after a write: the manager that changed it last. */
export function withManagedFields(before: KubeObject | undefined, after: KubeObject, manager: string, time: string): KubeObject {
  const [was, is] = [leavesOf(before), leavesOf(after)]
  const changed = [...is].filter(([path, value]) => !was.has(path) || !isSameJson(was.get(path), value)).map(([path]) => path)
  const others = entriesOf(before).filter((entry) => entry.manager !== manager)
  const own = entriesOf(before).find((entry) => entry.manager === manager)
  const kept = others.flatMap((entry) => {
    const paths = pathsIn(entry.fieldsV1).filter((path) => is.has(path) && !changed.includes(path))
    return paths.length === 0 ? [] : [{ ...entry, fieldsV1: treeOf(paths) }]
  })
  const paths = new Set([...(own === undefined ? [] : pathsIn(own.fieldsV1)).filter((path) => is.has(path)), ...changed])
  const mine: Entry = {
    manager,
    operation: 'Update',
    apiVersion: after.apiVersion,
    time: changed.length === 0 && own !== undefined ? own.time : time,
    fieldsType: 'FieldsV1',
    fieldsV1: treeOf([...paths]),
  }
  return { ...after, metadata: { ...after.metadata, managedFields: paths.size === 0 ? kept : [...kept, mine] } }
}

/** Returns the manager of a part of the cluster. All controllers are one program, the kube-controller-manager. */
export function managerOf(by: string): string {
  if (by.endsWith('-controller') || by === 'garbage-collector') return 'kube-controller-manager'
  return by === 'scheduler' ? 'kube-scheduler' : by
}

function entriesOf(object: KubeObject | undefined): Entry[] {
  return (object?.metadata['managedFields'] as Entry[] | undefined) ?? []
}

/** Returns each value that has one owner, by its path. */
function leavesOf(object: KubeObject | undefined): ReadonlyMap<string, unknown> {
  const leaves = new Map<string, unknown>()
  function walk(value: unknown, path: readonly string[], name: string): void {
    const key = KEYS[name]
    if (Array.isArray(value) && key !== undefined) {
      for (const item of value as Record<string, unknown>[])
        walk(item, [...path, `k:${JSON.stringify({ [key]: item[key] })}`], '')
    } else if (typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0) {
      for (const [field, below] of Object.entries(value)) walk(below, [...path, `f:${field}`], field)
    } else leaves.set(JSON.stringify(path), value)
  }
  if (object === undefined) return leaves
  const { apiVersion: _, kind: __, metadata, ...rest } = object
  for (const [field, value] of Object.entries(metadata))
    if (!SERVERS_OWN.has(field) && value !== undefined) walk(value, ['f:metadata', `f:${field}`], field)
  for (const [field, value] of Object.entries(rest)) if (value !== undefined) walk(value, [`f:${field}`], field)
  return leaves
}

function treeOf(paths: readonly string[]): Tree {
  const tree: Tree = {}
  for (const path of paths) {
    let below = tree
    for (const step of JSON.parse(path) as string[]) below = below[step] ??= {}
  }
  return tree
}

function pathsIn(tree: Tree, path: readonly string[] = []): string[] {
  return Object.entries(tree).flatMap(([step, below]) => {
    const own = [...path, step]
    return Object.keys(below).length === 0 ? [JSON.stringify(own)] : pathsIn(below, own)
  })
}
