/** Detects an answer that is one page of several. */

/** Names of fields for the place of the next page in common APIs, without `_`, `-` and case. */
const NEXT =
  /^(?:next|nextpage|nextlink|nexturl|nexturi|nexttoken|nextpagetoken|nextpageurl|nextcursor|nextmarker|continue|odata\.?nextlink)$/
/** Names of fields that tell whether a next page exists. */
const MORE = /^(?:hasmore|hasnext|hasnextpage|istruncated)$/
/** Names of the fields that may contain such fields, besides the answer itself. */
const AROUND = /^(?:metadata|meta|pagination|paging|pageinfo|page|links|cursors?|responsemetadata)$/

function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[_@-]/g, '')
}

function isPlace(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() !== ''
  if (typeof value === 'number' || typeof value === 'bigint') return value > 0
  return typeof value === 'object' && value !== null && 'href' in value && isPlace(value.href)
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function fieldIn(map: Record<string, unknown>, path: string, isOuter: boolean): string | undefined {
  for (const [name, value] of Object.entries(map)) {
    const plain = plainName(name)
    if (NEXT.test(plain) && isPlace(value)) return `${path}.${name}`
    if (MORE.test(plain) && value === true) return `${path}.${name}`
    const inner = isOuter && AROUND.test(plain) && isMap(value) ? fieldIn(value, `${path}.${name}`, false) : undefined
    if (inner !== undefined) return inner
  }
  return undefined
}

/** The sign of a next page in an answer: a header, or a field of the body. Undefined if there is none. */
export function nextPageSign({ body, headers }: { body: unknown; headers: unknown }): string | undefined {
  const { link = '' } = headers as Record<string, string>
  if (/;\s*rel\s*=\s*"?(?:[^",;]*\s)?next(?:[\s",;]|$)/i.test(link)) return 'its header Link has rel="next"'
  const field = isMap(body) ? fieldIn(body, 'body', true) : undefined
  return field === undefined ? undefined : `${field} says so`
}
