/**
 * resourceVersions of Kubernetes are etcd revisions: decimal numbers without leading zeros, possibly above 2^53, so they are compared as
 * strings. An aggregated API server may use opaque versions, which have no order.
 */
const DECIMAL = /^(0|[1-9][0-9]*)$/

function compare(a: string, b: string): number | undefined {
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return undefined
  if (a.length !== b.length) return a.length - b.length
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** For versions without an order, every different version counts as newer, so that no message of the server is dropped. */
export function isNewerVersion(version: string, than: string): boolean {
  const order = compare(version, than)
  return order === undefined ? version !== than : order > 0
}

/** For versions without an order, no version is older. */
export function isOlderVersion(version: string, than: string): boolean {
  const order = compare(version, than)
  return order !== undefined && order < 0
}
