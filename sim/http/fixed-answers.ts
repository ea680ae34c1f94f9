import type { ApiAnswer, ApiRequest } from '../api-server/server.ts'
import { discoveryPages } from './discovery.ts'
import { openApiPages } from './open-api.ts'

/** The version that clients are told: the version that the simulation was recorded with. */
const VERSION = { major: '1', minor: '35', gitVersion: 'v1.35.4+embedded', platform: 'none' }

/** Paths without secrets: `kubectl get --raw` asks for them without the path of the server's address. */
export const OPEN_TO_ALL: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz'])

const pages = new Map<string, unknown>([
  ...discoveryPages(),
  ...openApiPages(),
  ['/version', VERSION],
  ...Array.from(OPEN_TO_ALL, (path) => [path, 'ok'] as const),
])

/** Answers requests with a constant answer: discovery, the version, health. */
export function fixedAnswer({ method, path }: ApiRequest): ApiAnswer | undefined {
  if (method !== 'GET') return undefined
  const page = pages.get(path.split('?', 1)[0]!.replace(/(.)\/$/, '$1'))
  if (page === undefined) return undefined
  return typeof page === 'string'
    ? { status: 200, headers: { 'content-type': 'text/plain' }, text: page }
    : { status: 200, headers: { 'content-type': 'application/json' }, text: JSON.stringify(page) }
}
