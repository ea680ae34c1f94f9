import type { PatchOperation } from '../../kube/client.ts'

/** The part of RFC 6902 that sluice uses, with the rule of the API server that a `test` against null passes for a missing key. */
export function applyJsonPatch<T>(document: T, operations: readonly PatchOperation[]): T {
  const copy = structuredClone(document)
  for (const operation of operations) {
    const keys = operation.path
      .split('/')
      .slice(1)
      .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    const last = keys.pop()!
    // oxlint-disable-next-line no-explicit-any
    const parent = keys.reduce<any>((at, key) => at?.[key], copy)
    if (parent === undefined || parent === null) throw new Error(`no such path: ${operation.path}`)
    if (operation.op === 'test') {
      if (!isSameJson(parent[last] ?? null, operation.value)) throw new Error(`test failed: ${operation.path}`)
    } else if (operation.op === 'remove') {
      delete parent[last]
    } else {
      if (operation.op === 'replace' && !(last in parent)) throw new Error(`nothing to replace: ${operation.path}`)
      parent[last] = structuredClone(operation.value)
    }
  }
  return copy
}

export function isSameJson(one: unknown, other: unknown): boolean {
  return canonical(one) === canonical(other)
}

function canonical(value: unknown): string {
  const sorted = (object: object): object => Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)))
  return JSON.stringify(value, (_key, at: unknown) =>
    typeof at === 'object' && at !== null && !Array.isArray(at) ? sorted(at) : at,
  )
}
