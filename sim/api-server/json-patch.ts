import { isSameJson } from './same-json.ts'

export interface PatchOperation {
  op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test'
  path: string
  from?: string
  value?: unknown
}

/** An operation that cannot be done. The API server does not send the reason, so it serves the reader of a test only. */
export class PatchFailure extends Error {
  override readonly name = 'PatchFailure'
}

/**
 * Applies RFC 6902 as the API server reads it; libraries follow the standard, which differs. A `test` against null passes for a missing key
 * of an existing map, and a `replace` of such a key adds it. The result shares unchanged parts with `document`, which is not modified.
 * @throws PatchFailure
 */
export function applyJsonPatch(document: unknown, operations: readonly PatchOperation[]): unknown {
  let result = document
  for (const operation of operations) result = apply(result, operation)
  return result
}

function apply(document: unknown, { op, path, from, value }: PatchOperation): unknown {
  const at = keysOf(path)
  switch (op) {
    case 'test':
      if (!isSameJson(valueAt(document, at, path) ?? null, value ?? null)) throw new PatchFailure(`testing value ${path} failed`)
      return document
    case 'add':
      return changed(document, at, path, (parent, key) => withAdded(parent, key, value, path))
    case 'replace':
      return changed(document, at, path, (parent, key) => withReplaced(parent, key, value, path))
    case 'remove':
      return changed(document, at, path, (parent, key) => without(parent, key, path))
    case 'copy':
      return apply(document, { op: 'add', path, value: required(document, from) })
    case 'move': {
      const moved = required(document, from)
      return apply(apply(document, { op: 'remove', path: from ?? '' }), { op: 'add', path, value: moved })
    }
    default:
      throw new PatchFailure(`unexpected kind: ${String(op)}`)
  }
}

type Parent = Record<string, unknown> | readonly unknown[]

function keysOf(path: string): string[] {
  if (!path.startsWith('/')) throw new PatchFailure(`not a path below the document: ${path}`)
  const keys = path.slice(1).split('/')
  return path.includes('~') ? keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~')) : keys
}

function valueAt(document: unknown, keys: readonly string[], path: string): unknown {
  let at = document
  for (const key of keys) at = childOf(asParent(at, path), key, path)
  return at
}

function required(document: unknown, from: string | undefined): unknown {
  const value = from === undefined ? undefined : valueAt(document, keysOf(from), from)
  if (value === undefined) throw new PatchFailure(`missing key ${from ?? ''}`)
  return value
}

/** Returns the document with one changed parent. The path to the parent is copied; the rest is shared. */
function changed(
  document: unknown,
  keys: readonly string[],
  path: string,
  change: (parent: Parent, key: string) => Parent,
  depth = 0,
): unknown {
  const parent = asParent(document, path)
  const key = keys[depth]!
  if (depth === keys.length - 1) return change(parent, key)
  return withReplaced(parent, key, changed(childOf(parent, key, path), keys, path, change, depth + 1), path)
}

function asParent(value: unknown, path: string): Parent {
  if (typeof value !== 'object' || value === null) throw new PatchFailure(`jsonpatch path does not exist: ${path}`)
  return value as Parent
}

function isArray(parent: Parent): parent is readonly unknown[] {
  return Array.isArray(parent)
}

function childOf(parent: Parent, key: string, path: string): unknown {
  if (isArray(parent)) return parent[indexIn(parent, key, parent.length - 1, path)]
  return Object.hasOwn(parent, key) ? parent[key] : undefined
}

/** Returns the index that a key names. A negative index counts from the end, as in the library of the API server. */
function indexIn(list: readonly unknown[], key: string, last: number, path: string): number {
  if (!/^-?[0-9]+$/.test(key)) throw new PatchFailure(`not an index: ${key} in ${path}`)
  const index = Number(key)
  const fromStart = index < 0 ? index + last + 1 : index
  if (fromStart < 0 || fromStart > last) throw new PatchFailure(`index out of bounds: ${key} in ${path} (${list.length} items)`)
  return fromStart
}

function withAdded(parent: Parent, key: string, value: unknown, path: string): Parent {
  if (!isArray(parent)) return { ...parent, [key]: value }
  const index = key === '-' ? parent.length : indexIn(parent, key, parent.length, path)
  return parent.toSpliced(index, 0, value)
}

function withReplaced(parent: Parent, key: string, value: unknown, path: string): Parent {
  return isArray(parent) ? parent.with(indexIn(parent, key, parent.length - 1, path), value) : { ...parent, [key]: value }
}

function without(parent: Parent, key: string, path: string): Parent {
  if (isArray(parent)) return parent.toSpliced(indexIn(parent, key, parent.length - 1, path), 1)
  if (!Object.hasOwn(parent, key)) throw new PatchFailure(`unable to remove nonexistent key: ${path}`)
  const { [key]: _, ...rest } = parent
  return rest
}
