/** Fields that the API server sets, or that differ between versions of one content. */
const OF_THE_SERVER = new Set(['managedFields', 'resourceVersion', 'generation', 'uid', 'creationTimestamp', 'selfLink'])

/** True where the API server would store nothing new. */
export function haveSameContent(a: unknown, b: unknown): boolean {
  return isSame(contentOf(a), contentOf(b))
}

function contentOf(object: unknown): unknown {
  const { apiVersion: _version, kind: _kind, metadata, ...others } = object as { metadata?: object } & Record<string, unknown>
  const kept = Object.entries(metadata ?? {}).filter(([field]) => !OF_THE_SERVER.has(field))
  return { ...others, ...('subsets' in others && { subsets: inOrder(others['subsets']) }), metadata: Object.fromEntries(kept) }
}

/** The API server sorts the subsets of Endpoints, and what is in them, in an order of its own. */
function inOrder(value: unknown): unknown {
  if (!Array.isArray(value)) return value
  return value
    .map((one: unknown) =>
      typeof one === 'object' && one !== null
        ? Object.fromEntries(
            Object.entries(one)
              .filter(([, field]) => !isEmpty(field))
              .map(([name, field]): [string, unknown] => [name, inOrder(field)])
              .toSorted(([a], [b]) => (a < b ? -1 : 1)),
          )
        : one,
    )
    .map((one) => ({ one, text: JSON.stringify(one) }))
    .toSorted((a, b) => (a.text < b.text ? -1 : 1))
    .map(({ one }) => one)
}

/** A missing value, null, an empty list and an empty map are one in Go. */
function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)
}

function isSame(a: unknown, b: unknown): boolean {
  if (a === b || (isEmpty(a) && isEmpty(b))) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null || Array.isArray(a) !== Array.isArray(b))
    return false
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...names].every((name) => isSame((a as Record<string, unknown>)[name], (b as Record<string, unknown>)[name]))
}
