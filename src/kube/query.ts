/** `path` with `parameters` added to its query; undefined parameters are left out. */
export function withQuery(path: string, parameters: Record<string, string | undefined>): string {
  const pairs = Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== undefined)
  if (pairs.length === 0) return path
  const query = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
  return `${path}${path.includes('?') ? '&' : '?'}${query}`
}

export function withoutQuery(path: string): string {
  const at = path.indexOf('?')
  return at === -1 ? path : path.slice(0, at)
}
