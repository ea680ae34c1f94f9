import { refusal } from '../api-server/refusal.ts'
import type { ApiRequest } from '../api-server/server.ts'

const WHY: Record<string, string> = {
  log: 'containers of the embedded cluster write no logs',
  exec: 'there is nothing to execute in a container of the embedded cluster',
  attach: 'containers of the embedded cluster have nothing to attach to',
  portforward: 'the embedded cluster forwards no ports',
  ephemeralcontainers: 'the embedded cluster has no ephemeral containers',
  eviction: 'the embedded cluster has no evictions; delete the pod',
}

/** Refuses requests that the server would otherwise answer with "not found", or would handle wrongly. @throws Refusal 501 */
export function refuseWhatIsNotThere({ method, path, body = '' }: ApiRequest): void {
  const [, subresource = ''] = /^\/api\/v1\/namespaces\/[^/]+\/pods\/[^/]+\/([a-z]+)/.exec(path) ?? []
  if (subresource in WHY) throw notImplemented(WHY[subresource]!)
  const orphans = /"propagationPolicy"\s*:\s*"Orphan"/.test(body) || path.includes('propagationPolicy=Orphan')
  if (method === 'DELETE' && orphans)
    throw notImplemented('the embedded cluster orphans nothing; delete without --cascade=orphan')
}

function notImplemented(why: string): Error {
  return refusal(501, 'NotImplemented', why)
}
