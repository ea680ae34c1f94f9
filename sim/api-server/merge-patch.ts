type JsonMap = Record<string, unknown>

function isMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Applies RFC 7386: null removes a key, maps are merged, other values are replaced. The result shares unchanged parts with `target`. */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  return merge(target, patch, () => undefined)
}

/** Lists whose items have a key. All other lists are replaced as a whole. */
const MERGE_KEYS: Record<string, string> = {
  conditions: 'type',
  containers: 'name',
  initContainers: 'name',
  ephemeralContainers: 'name',
  volumes: 'name',
  env: 'name',
  volumeMounts: 'mountPath',
  imagePullSecrets: 'name',
  hostAliases: 'ip',
  podIPs: 'ip',
  addresses: 'type',
  ownerReferences: 'uid',
}

/**
 * Applies a strategic merge patch, as far as kubelet and kubectl need it. Items of the lists above are merged by their key.
 * `$patch: delete` removes an item, `$patch: replace` replaces a whole list or map. `$setElementOrder` and `$retainKeys` are honoured.
 */
export function applyStrategicMergePatch(target: unknown, patch: unknown): unknown {
  return merge(target, patch, mergeKeyOf)
}

type MergeKeyOf = (field: string, items: readonly unknown[]) => string | undefined

function mergeKeyOf(field: string, items: readonly unknown[]): string | undefined {
  const key = field === 'ports' ? portsKey(items) : MERGE_KEYS[field]
  const named = key !== undefined && items.every((item) => isMap(item) && (key in item || item['$patch'] === 'replace'))
  return named ? key : undefined
}

/** The ports of a container have the key `containerPort`; the ports of a Service have the key `port`. */
function portsKey(items: readonly unknown[]): string {
  return items.some((item) => isMap(item) && 'containerPort' in item) ? 'containerPort' : 'port'
}

function merge(target: unknown, patch: unknown, keyOf: MergeKeyOf): unknown {
  if (!isMap(patch)) return patch
  const isStrategic = keyOf === mergeKeyOf
  if (isStrategic && patch['$patch'] === 'replace') return withoutDirectives(patch)
  const kept = isStrategic ? retained(target, patch['$retainKeys']) : target
  const result: JsonMap = isMap(kept) ? { ...kept } : {}
  for (const [field, value] of Object.entries(patch)) {
    if (isStrategic && field.startsWith('$')) continue
    if (value === null) delete result[field]
    else if (Array.isArray(value))
      result[field] = mergedList(field, result[field], value, keyOf, patch[`$setElementOrder/${field}`])
    else result[field] = merge(result[field], value, keyOf)
  }
  return result
}

function retained(target: unknown, keys: unknown): unknown {
  if (!isMap(target) || !Array.isArray(keys)) return target
  return Object.fromEntries(Object.entries(target).filter(([key]) => keys.includes(key)))
}

function withoutDirectives(patch: JsonMap): JsonMap {
  return Object.fromEntries(Object.entries(patch).filter(([key]) => !key.startsWith('$')))
}

function mergedList(field: string, target: unknown, patch: readonly unknown[], keyOf: MergeKeyOf, order: unknown): unknown {
  const key = keyOf(field, patch)
  if (key === undefined) return patch
  const items = patch as readonly JsonMap[]
  if (items.some((item) => item['$patch'] === 'replace')) {
    return items.filter((item) => item['$patch'] !== 'replace').map(withoutDirectives)
  }
  const before: readonly unknown[] = Array.isArray(target) ? target : []
  let merged = before
  for (const item of items) {
    const index = merged.findIndex((one) => isMap(one) && one[key] === item[key])
    if (item['$patch'] === 'delete') merged = merged.filter((_, at) => at !== index)
    else if (index === -1) merged = [...merged, merge({}, item, keyOf)]
    else merged = merged.with(index, merge(merged[index], item, keyOf))
  }
  const keysOf = (list: readonly unknown[]): unknown[] => list.map((item) => (isMap(item) ? item[key] : undefined))
  return inOrder(merged, keysOf(merged), keysOf(Array.isArray(order) ? order : items), keysOf(before))
}

/** Orders items that the patch names as the patch does. Each other item stays before the item that followed it. */
function inOrder(
  items: readonly unknown[],
  keys: readonly unknown[],
  asked: readonly unknown[],
  former: readonly unknown[],
): unknown[] {
  const ordered = asked.filter((key) => keys.includes(key))
  const rest = former.filter((key) => keys.includes(key) && !asked.includes(key))
  const result: unknown[] = []
  for (const key of ordered) {
    const place = former.indexOf(key)
    while (rest.length > 0 && former.indexOf(rest[0]) < place) result.push(rest.shift())
    result.push(key)
  }
  return [...result, ...rest].map((key) => items[keys.indexOf(key)])
}
