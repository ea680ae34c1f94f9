import type { Difference } from '../reasons/template-reasons.ts'

export type { Difference }

/** Fields that identify the elements of Kubernetes' lists. The first field that fits a list is used. */
const LIST_KEYS = ['name', 'mountPath', 'containerPort']

/**
 * The differences between two JSON documents, with readable paths such as `containers[app].env[FOO].value`. A null field counts as absent,
 * as for the API server. The result is empty for equal documents.
 */
export function differences(before: unknown, after: unknown, path: string): Difference[] {
  if (before == null && after == null) return []
  if (isObject(before) && isObject(after)) return objectDifferences(before, after, path)
  if (Array.isArray(before) && Array.isArray(after)) return listDifferences(before, after, path)
  if (before === after) return []
  return [{ path, ...(before == null ? {} : { before }), ...(after == null ? {} : { after }) }]
}

function objectDifferences(before: Record<string, unknown>, after: Record<string, unknown>, path: string): Difference[] {
  const keys = Object.keys({ ...before, ...after })
  keys.sort()
  // Own properties only, because a label may have the name of an inherited one, such as `constructor`.
  const own = (object: Record<string, unknown>, key: string): unknown => (Object.hasOwn(object, key) ? object[key] : undefined)
  return keys.flatMap((key) =>
    differences(own(before, key), own(after, key), /^[\w-]+$/.test(key) ? `${path}.${key}` : `${path}[${key}]`),
  )
}

function listDifferences(before: unknown[], after: unknown[], path: string): Difference[] {
  const key = LIST_KEYS.find((candidate) => isKeyedBy(before, candidate) && isKeyedBy(after, candidate))
  if (key === undefined) {
    const length = Math.max(before.length, after.length)
    return Array.from({ length }, (_, index) => differences(before[index], after[index], `${path}[${index}]`)).flat()
  }
  const was = byKey(before, key)
  const is = byKey(after, key)
  const names = [...new Set([...was.keys(), ...is.keys()])]
  const found = names.flatMap((name) => differences(was.get(name), is.get(name), `${path}[${name}]`))
  // The order counts too, because environment variables refer to earlier ones.
  const order = (list: Map<unknown, unknown>): string => [...list.keys()].join(', ')
  return found.length === 0 && order(was) !== order(is)
    ? [{ path: `${path} (order)`, before: order(was), after: order(is) }]
    : found
}

function isKeyedBy(list: unknown[], key: string): boolean {
  const keys = list.map((element) => (isObject(element) ? element[key] : undefined))
  return keys.every((one) => typeof one === 'string' || typeof one === 'number') && new Set(keys).size === keys.length
}

function byKey(list: unknown[], key: string): Map<unknown, unknown> {
  return new Map(list.map((element) => [(element as Record<string, unknown>)[key], element]))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
