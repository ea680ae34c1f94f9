import type { PatchOperation } from '../../pods/patch-operation.ts'

/**
 * Applies a JSON Patch (RFC 6902) as the API server does (measured on 1.35): all or nothing. A `test` against null passes for a missing
 * key of an existing map; a missing parent is an error.
 */
export function applyPatch<T>(document: T, operations: readonly PatchOperation[]): T {
  const copy = structuredClone(document)
  for (const operation of operations) apply(copy, operation)
  return copy
}

export class PatchRefused extends Error {
  override readonly name = 'PatchRefused'
}

function apply(document: unknown, operation: PatchOperation): void {
  const keys = operation.path.split('/').slice(1).map(unescape)
  const last = keys.pop()
  if (last === undefined) throw new PatchRefused('the whole document is never patched')
  let parent: unknown = document
  for (const key of keys) parent = child(parent, key)
  if (parent === null || typeof parent !== 'object') throw new PatchRefused(`no such path: ${operation.path}`)
  const known = has(parent, last)
  const container = parent as Record<string, unknown>
  switch (operation.op) {
    case 'test': {
      if (Array.isArray(parent) && !known) throw new PatchRefused(`no such index: ${operation.path}`)
      if (!isSame(known ? container[last] : null, operation.value)) throw new PatchRefused(`test failed: ${operation.path}`)
      return
    }
    case 'add': {
      if (!Array.isArray(parent)) container[last] = structuredClone(operation.value)
      else parent.splice(last === '-' ? parent.length : Number(last), 0, structuredClone(operation.value))
      return
    }
    case 'replace': {
      if (!known) throw new PatchRefused(`nothing to replace: ${operation.path}`)
      container[last] = structuredClone(operation.value)
      return
    }
    case 'remove': {
      if (!known) throw new PatchRefused(`nothing to remove: ${operation.path}`)
      if (Array.isArray(parent)) parent.splice(Number(last), 1)
      else delete container[last]
    }
  }
}

function unescape(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~')
}

function child(parent: unknown, key: string): unknown {
  if (parent === null || typeof parent !== 'object' || !has(parent, key)) throw new PatchRefused(`no such path: …/${key}`)
  return (parent as Record<string, unknown>)[key]
}

function has(parent: object, key: string): boolean {
  return Array.isArray(parent) ? /^\d+$/.test(key) && Number(key) < parent.length : Object.hasOwn(parent, key)
}

function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (one === null || other === null || typeof one !== 'object' || typeof other !== 'object') return false
  const keys = Object.keys(one)
  return (
    Array.isArray(one) === Array.isArray(other) &&
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isSame((one as never)[key], (other as never)[key]))
  )
}
