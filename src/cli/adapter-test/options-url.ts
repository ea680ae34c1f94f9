/** Finds and replaces the URL of a load balancer in the options of an adapter. */

/** Returns the scheme, host and port of each URL, without repetition. */
export function originsIn(options: unknown): string[] {
  const origins = new Set<string>()
  mapTexts(options, (text) => {
    const origin = originOf(text)
    if (origin !== undefined) origins.add(origin)
    return text
  })
  return [...origins]
}

/** Replaces `origin` with `other` in all URLs of the options. Paths stay. */
export function withOrigin(options: unknown, origin: string, other: string): unknown {
  return mapTexts(options, (text) => (originOf(text) === origin ? other + text.slice(origin.length) : text))
}

function originOf(text: string): string | undefined {
  const written = /^https?:\/\/[^/?#\s]+/i.exec(text)?.[0]
  return written !== undefined && URL.canParse(written) ? written : undefined
}

/** Maps plain values only. Objects that a schema has made stay as they are. */
function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map))
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, map)]))
}
