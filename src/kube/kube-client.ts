import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import { answerError } from './answer-error.ts'
import type { KubeClient, WriteOptions } from './client.ts'
import { KubeError } from './errors.ts'
import { escapedAsGo } from './escaped-as-go.ts'
import { exchange } from './exchange.ts'
import { parseJson } from './json.ts'
import { pause } from './pause.ts'
import { withoutQuery, withQuery } from './query.ts'
import type { Transport, TransportRequest, TransportResponse } from './transport.ts'

export interface KubeClientOptions {
  transport: Transport
  clock: Clock
  random: Random
  /** The limit for the duration of every call in milliseconds, and the default deadline. If absent, the default deadline is 15,000. */
  requestTimeoutMs?: number
  userAgent?: string
  /** Owner of the written fields. Default `sluice`. */
  fieldManager?: string
}

const DEFAULT_DEADLINE_MS = 15_000
/** The wait after a 429 without a Retry-After. */
const DEFAULT_RETRY_AFTER_MS = 1_000
/** The retries of throttled calls are spread over this time. */
const RETRY_SPREAD_MS = 250

type Method = TransportRequest['method']

export function createKubeClient(options: KubeClientOptions): KubeClient {
  const { transport, clock, random } = options
  const { requestTimeoutMs = Infinity } = options
  const fieldManager = options.fieldManager ?? 'sluice'
  const commonHeaders = { accept: 'application/json', 'user-agent': options.userAgent ?? 'sluice' }

  async function call(
    request: TransportRequest,
    {
      deadlineMs = options.requestTimeoutMs ?? DEFAULT_DEADLINE_MS,
      signal,
      once = false,
      beforeAgain,
      beforeSend,
      onHeaders,
    }: Omit<WriteOptions, 'dryRun'>,
  ): Promise<unknown> {
    const endsAt = clock.now() + Math.min(deadlineMs, requestTimeoutMs)
    for (;;) {
      const limits = { clock, deadlineMs: endsAt - clock.now(), signal }
      const sending = beforeSend === undefined ? request : { ...request, beforeSend }
      const answer = await exchange(sending, limits, (sent) => transport.send(sent))
      if (isSuccess(answer)) {
        onHeaders?.(answer.headers)
        return bodyOf(request, answer)
      }
      const error = answerError(request, answer)
      const waitMs = once ? undefined : mayComeAgain(request.method, error)
      // The 429 is a better error than the timeout that would follow.
      if (waitMs === undefined || clock.now() + waitMs >= endsAt) throw error
      if (!(await pause(clock, waitMs, signal))) throw error
      await beforeAgain?.()
      // The process may have been stopped during the wait; its caller has given up a write whose deadline has passed.
      if (clock.now() >= endsAt) throw error
    }
  }

  /** The wait before the request is sent again; undefined if it must not be repeated. */
  function mayComeAgain(method: Method, error: KubeError): number | undefined {
    const refused = error.status === 429
    const overloaded = error.status === 503 && method === 'GET' && error.retryAfterMs !== undefined
    if (!refused && !overloaded) return undefined
    return (error.retryAfterMs ?? DEFAULT_RETRY_AFTER_MS) + random.next() * RETRY_SPREAD_MS
  }

  function write(method: Method, path: string, body: unknown, { dryRun, ...limits }: WriteOptions, contentType: string) {
    const request = {
      method,
      path: withQuery(path, { fieldManager, dryRun: dryRun === true ? 'All' : undefined }),
      headers: { ...commonHeaders, 'content-type': contentType },
      body: escapedAsGo(JSON.stringify(body)),
    }
    return call(request, limits)
  }

  function deletion(path: string, resourceVersion: string | undefined): TransportRequest {
    const request = { method: 'DELETE', path, headers: commonHeaders } as const
    if (resourceVersion === undefined) return request
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { resourceVersion } }
    return { ...request, headers: { ...commonHeaders, 'content-type': 'application/json' }, body: JSON.stringify(body) }
  }

  return {
    get: (path, limits = {}) => call({ method: 'GET', path, headers: commonHeaders }, limits),
    create: (path, body, limits = {}) => write('POST', path, body, limits, 'application/json'),
    replace: (path, body, limits = {}) => write('PUT', path, body, limits, 'application/json'),
    patch: (path, operations, limits = {}) => write('PATCH', path, operations, limits, 'application/json-patch+json'),
    delete: (path, { resourceVersion, ...limits } = {}) => call(deletion(path, resourceVersion), limits),

    async watch(path, { signal, onLine, onOpen }) {
      const request: TransportRequest = { method: 'GET', path, headers: commonHeaders }
      let open = true
      try {
        const answer = await exchange(request, { clock, signal }, (sent) =>
          transport.stream(
            sent,
            (line) => {
              if (open && !signal.aborted) onLine(line)
            },
            () => {
              if (open && !signal.aborted) onOpen?.()
            },
          ),
        )
        if (!isSuccess(answer)) throw answerError(request, answer)
      } finally {
        open = false
      }
    },
  }
}

function isSuccess(answer: TransportResponse): boolean {
  return answer.status >= 200 && answer.status < 300
}

/** The body of a success. An unreadable body is no reliable answer, because an intermediary has changed it. */
function bodyOf(request: TransportRequest, answer: TransportResponse): unknown {
  const parsed = parseJson(answer.text)
  if (parsed !== undefined) return parsed.value
  const { method } = request
  const path = withoutQuery(request.path)
  const size = answer.text.length
  throw new KubeError(`${method} ${path}: ${answer.status}, but the answer (${size} characters) is not JSON`, {
    kind: 'ambiguous',
    method,
    path,
    status: answer.status,
  })
}
