import { isMissingRight, KubeError, type KubeErrorKind } from './errors.ts'
import { numberField, parseJson, stringField, field } from './json.ts'
import { withoutQuery } from './query.ts'
import type { TransportRequest, TransportResponse } from './transport.ts'

const MESSAGE_LIMIT = 300
const UNAUTHORIZED = 'the server does not know these credentials: log in again, or choose another user or context'
/** The plain-text answer of Go's HTTP server to HTTP on an HTTPS port. */
const PLAIN_TO_TLS = 'Client sent an HTTP request to an HTTPS server'
const WRONG_SCHEME = 'the server speaks TLS: its URL in the kubeconfig has to begin with https://'
/** The plain-text answer of Go's HTTP server for an unknown path. */
const NO_SUCH_PATH = '404 page not found'
/** The path of a resource whose group has a domain. Every API server serves the Kubernetes groups without one. */
const CUSTOM_RESOURCE = /^\/apis\/([^/]+\.[^/]+)\/([^/]+)\/(?:namespaces\/[^/]+\/)?([^/]+)/
const MISSING_RIGHT = '`sluice rbac` prints a Role with the rights that a run needs'

/** The error for an answer that is not 2xx. */
export function answerError(request: TransportRequest, answer: TransportResponse): KubeError {
  const path = withoutQuery(request.path)
  const body = parseJson(answer.text)?.value
  const isStatus = stringField(body, 'kind') === 'Status'
  const reason = isStatus ? stringField(body, 'reason') : undefined
  const said = isStatus ? firstLine(stringField(body, 'message') ?? '') : unsaid(answer, path)
  const retryAfterMs = retryAfter(answer, body)
  return new KubeError(`${request.method} ${path}: ${answer.status}${reason === undefined ? '' : ` ${reason}`}: ${said}`, {
    kind: kindOf(answer.status),
    method: request.method,
    path,
    status: answer.status,
    ...(reason === undefined ? {} : { reason }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    hint: hintOf(answer, said),
  })
}

/** The message for an answer without a Status. */
function unsaid({ status, text }: TransportResponse, path: string): string {
  const [, group = '', version, plural] = (status === 404 && text.startsWith(NO_SUCH_PATH) && CUSTOM_RESOURCE.exec(path)) || []
  if (plural === undefined || group.endsWith('.k8s.io')) return 'the answer is no Status object'
  return `this cluster has no ${plural}.${group} in version ${version}`
}

function hintOf({ status, text }: TransportResponse, said: string): string | undefined {
  if (status === 401) return UNAUTHORIZED
  if (status === 400 && text.startsWith(PLAIN_TO_TLS)) return WRONG_SCHEME
  return isMissingRight(status, said) ? MISSING_RIGHT : undefined
}

/**
 * A 408 does not prove that nothing was done, because proxies send it for requests that they have begun to forward. Neither does a
 * redirect, which the API server never sends.
 */
function kindOf(status: number): KubeErrorKind {
  if (status === 409 || status === 412) return 'conflict'
  if (status === 429) return 'throttled'
  if (status === 408) return 'ambiguous'
  return status >= 400 && status < 500 ? 'definite' : 'ambiguous'
}

/** The first line only: the later lines of a refused pod update contain both specs, including their environment variables. */
function firstLine(message: string): string {
  return (message.split('\n', 1)[0] ?? '').slice(0, MESSAGE_LIMIT)
}

/** The wait in milliseconds. The API server sends whole seconds, never a date; some errors have them in the Status only. */
function retryAfter(answer: TransportResponse, status: unknown): number | undefined {
  const header = answer.headers['retry-after']
  if (header !== undefined && /^[0-9]{1,6}$/.test(header.trim())) return Number(header) * 1000
  const seconds = numberField(field(status, 'details'), 'retryAfterSeconds')
  return seconds === undefined || seconds <= 0 ? undefined : seconds * 1000
}
