import type { Kind } from './kinds.ts'
import { noSuchResource, pageNotFound } from './refusal.ts'

/** The subject of a request. */
export interface Route {
  kind: Kind
  /** The namespace. Undefined for a cluster-scoped kind, and for a list over all namespaces. */
  namespace: string | undefined
  /** The name of the object. Undefined for the collection. */
  name: string | undefined
  subresource: string | undefined
  query: URLSearchParams
}

/** Creates a reader of paths. The reader throws a Refusal 404 for an unknown path. */
export function createRouter(all: readonly Kind[]): (path: string) => Route {
  const apiVersions = new Set(all.map(({ apiVersion }) => apiVersion))
  const kinds = new Map(all.map((kind) => [`${kind.apiVersion}/${kind.plural}`, kind]))
  return (path) => route(path, apiVersions, kinds)
}

function route(path: string, apiVersions: ReadonlySet<string>, kinds: ReadonlyMap<string, Kind>): Route {
  const at = path.indexOf('?')
  const query = new URLSearchParams(at === -1 ? '' : path.slice(at + 1))
  const segments = (at === -1 ? path : path.slice(0, at)).split('/').slice(1).map(decoded)
  const [root, ...rest] = segments
  const apiVersion = root === 'api' ? rest.shift() : root === 'apis' ? `${rest.shift()}/${rest.shift()}` : undefined
  if (apiVersion === undefined || !apiVersions.has(apiVersion)) throw pageNotFound()
  // `/namespaces/NAME` and `/namespaces/NAME/status` address the Namespace itself.
  const isInNamespace = rest[0] === 'namespaces' && rest.length >= 3 && rest[2] !== 'status'
  const namespace = isInNamespace ? rest[1] : undefined
  const [plural, name, subresource, ...more] = isInNamespace ? rest.slice(2) : rest
  const kind = kinds.get(`${apiVersion}/${plural}`)
  if (kind === undefined || more.length > 0 || name === '' || namespace === '') throw noSuchResource()
  if (namespace !== undefined && !kind.namespaced) throw noSuchResource()
  // The path of an object of a namespaced kind has to name its namespace.
  if (name !== undefined && kind.namespaced && namespace === undefined) throw noSuchResource()
  if (subresource !== undefined && !(subresource === 'status' && kind.hasStatus)) throw noSuchResource()
  return { kind, namespace, name, subresource, query }
}

function decoded(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    throw noSuchResource()
  }
}
