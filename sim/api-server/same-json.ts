/** The same JSON, whatever the order of the keys; a key without a value is as good as none. */
export function isSameJson(one: unknown, other: unknown): boolean {
  // Versions share what did not change, so most comparisons end here.
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
  // What both have is compared: both ways, every level would double the time.
  for (const key in other) if (other[key] !== undefined && one[key] === undefined) return false
  return true
}
