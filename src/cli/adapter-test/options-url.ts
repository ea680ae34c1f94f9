/** The URL of a load balancer within the options of an adapter, wherever it stands there. */

/** Scheme, host and port of each, without repetition. */
export function originsIn(options: unknown): string[] {
  const origins = new Set<string>()
  mapTexts(options, (text) => {
    const origin = originOf(text)
    if (origin !== undefined) origins.add(origin)
    return text
  })
  return [...origins]
}

/** The same options with another origin in all URLs of `origin`; their paths stay. */
export function withOrigin(options: unknown, origin: string, other: string): unknown {
  return mapTexts(options, (text) => (originOf(text) === origin ? other + text.slice(origin.length) : text))
}

function originOf(text: string): string | undefined {
  const written = /^https?:\/\/[^/?#\s]+/i.exec(text)?.[0]
  return written !== undefined && URL.canParse(written) ? written : undefined
}

/** Of plain values: what a schema has made of others stays as it is. */
function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map))
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, map)]))
}
