/**
 * The API machinery's own resourceVersions are etcd revisions: decimal numbers without leading zeros, above 2^53 in
 * principle, so they are compared as strings. An aggregated API server may give opaque ones, which have no order.
 */
const DECIMAL = /^(0|[1-9][0-9]*)$/

function compare(a: string, b: string): number | undefined {
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return undefined
  if (a.length !== b.length) return a.length - b.length
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** Versions without an order: any other one counts as newer, so that nothing the server says is thrown away. */
export function isNewerVersion(version: string, than: string): boolean {
  const order = compare(version, than)
  return order === undefined ? version !== than : order > 0
}

/** Versions without an order: none is older. */
export function isOlderVersion(version: string, than: string): boolean {
  const order = compare(version, than)
  return order !== undefined && order < 0
}
