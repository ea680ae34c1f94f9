/** Reports whether two values are the same JSON. The order of the keys does not matter; a key without a value counts as missing. */
export function isSameJson(one: unknown, other: unknown): boolean {
  // Versions share unchanged parts, so most comparisons end here.
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) || Array.isArray(other)) {
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((item, i) => isSameJson(item, other[i]))
    )
  }
  return isSameMap(one as JsonMap, other as JsonMap)
}

type JsonMap = Record<string, unknown>

function isSameMap(one: JsonMap, other: JsonMap): boolean {
  for (const key in one) if (!isSameJson(one[key], other[key])) return false
  // The loop above has compared the common keys. A second comparison would double the time at every level.
  for (const key in other) if (other[key] !== undefined && one[key] === undefined) return false
  return true
}
