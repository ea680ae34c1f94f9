/** The meaning of an answer: success, or a kind of error. */
import { AdapterError, type AdapterErrorKind } from '../contract.ts'
import { excerpt, LOOKED_AT } from '../credentials/one-line.ts'

export interface Answer {
  status: number
  /** The headers by lower-case name. */
  headers: Record<string, string>
  text: string
  /** The method and the URL of the request, without a query: `GET https://…/servers`. */
  asked: string
}

/** The content encoding of an answer. The request asks for none, so sluice cannot read an encoded answer. */
function encodingOf({ headers }: Answer): string | undefined {
  const encoding = headers['content-encoding']
  return encoding === undefined || /^\s*(identity)?\s*$/i.test(encoding) ? undefined : encoding
}

function encodedWords(encoding: string, secrets: readonly string[]): string {
  return `content-encoding ${excerpt(encoding, secrets)}, which it was not asked for and sluice does not read`
}

/** The error for a status that is not a success. */
export class StatusError extends AdapterError {
  readonly status: number
  constructor(status: number, ...[component, kind, message, options]: ConstructorParameters<typeof AdapterError>) {
    super(component, kind, message, options)
    this.status = status
  }
}

/**
 * The error for status 404 or 410. Its kind is `not-found` if the API itself sent it. It is `retryable` if a gateway may have sent it,
 * because the API behind a gateway may be away for a moment.
 */
export class MissingError extends StatusError {}

/** True if the answer is JSON. A gateway without a route also answers 404, but with a page or a line of text. */
function isJson({ headers, text }: Answer): boolean {
  if (/\bjson\b/i.test(headers['content-type'] ?? '')) return true
  try {
    const said: unknown = JSON.parse(text)
    return typeof said === 'object' && said !== null
  } catch {
    return false
  }
}

/** The milliseconds of a Retry-After header, which has seconds or an HTTP date. */
export function retryAfterMs(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined
  if (/^\d+$/.test(value.trim())) return Number(value) * 1000
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}

function isMissing(status: number): boolean {
  return status === 404 || status === 410
}

/**
 * The kind of error for a status. For a write, 3xx, 408 and 5xx leave the outcome in doubt, also 503 with Retry-After: a proxy sends them
 * after it has passed the request on, and an API may answer with a redirect after the change.
 */
function kindOf(answer: Answer, isWrite: boolean, hasRetryAfter: boolean): AdapterErrorKind {
  const { status } = answer
  if (status === 429 || (status === 503 && hasRetryAfter && !isWrite)) return 'throttled'
  if (isMissing(status)) return isJson(answer) ? 'not-found' : 'retryable'
  if (status === 409 || status === 412 || status === 423 || status === 428) return 'conflict'
  if (status === 408) return isWrite ? 'ambiguous' : 'retryable'
  if (status === 425) return 'retryable'
  if (status >= (isWrite ? 400 : 300) && status < 500) return 'fatal'
  // Includes a success status that is not expected, such as 202 instead of 200: the API has started the change.
  return isWrite ? 'ambiguous' : status >= 500 ? 'retryable' : 'fatal'
}

/** The messages of nginx, Go and Apache for plain text on a TLS port. */
const PLAIN_TO_TLS = /plain http request was sent to https port|http request to an https server|plain http to an ssl-enabled/i

function wayOut({ status, headers: { location }, text }: Answer): string {
  if (status === 400 && PLAIN_TO_TLS.test(text.slice(0, LOOKED_AT))) return ': it speaks TLS; write https in url'
  if (status === 401) return ': it does not accept the credentials; see auth and headers'
  if (status === 403) return ': these credentials may not do this'
  if (status >= 300 && status < 400) return `: redirects are not followed; name ${location ?? 'the place itself'} in url or path`
  return ''
}

export function statusError(
  component: string,
  answer: Answer,
  { isWrite, secrets }: { isWrite: boolean; secrets: readonly string[] },
): AdapterError {
  const { status, headers, text, asked: what } = answer
  const waitMs = retryAfterMs(headers['retry-after'], Date.now())
  const kind = kindOf(answer, isWrite, waitMs !== undefined)
  const encoding = encodingOf(answer)
  const said = encoding === undefined ? excerpt(text, secrets) : encodedWords(encoding, secrets)
  const message = `${what} answered ${status}${excerpt(wayOut(answer), secrets)}${said === '' ? '' : ` (${said})`}`
  if (isMissing(status)) return new MissingError(status, component, kind, message)
  const isAskedToWait = waitMs !== undefined && (kind === 'throttled' || status === 503)
  return new StatusError(status, component, kind, message, isAskedToWait ? { retryAfterMs: waitMs } : {})
}

/** Parses the answer as JSON. Integers that JavaScript cannot represent stay exact, because they may be ids. */
export function parseJson(component: string, answer: Answer, secrets: readonly string[]): unknown {
  const { text, headers, asked: what } = answer
  const exact = (_key: string, value: unknown, context?: { source?: string }): unknown => {
    const isLost = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
    return isLost && /^-?\d+$/.test(context?.source ?? '') ? BigInt(context!.source!) : value
  }
  try {
    return JSON.parse(text, exact as (key: string, value: unknown) => unknown)
  } catch (error) {
    const encoding = encodingOf(answer)
    if (encoding !== undefined) {
      const message = `${what} answered with ${encodedWords(encoding, secrets)}`
      throw new AdapterError(component, 'retryable', message, { cause: withoutText(error) })
    }
    const type = excerpt(headers['content-type'] ?? 'no content type', secrets)
    const said = excerpt(text, secrets)
    const message = `${what} answered with ${said === '' ? 'nothing' : 'something that is not JSON'} (${type})${said === '' ? '' : `: ${said}`}`
    // A retry is harmless for a read, and the error page of a proxy may be gone then.
    throw new AdapterError(component, 'retryable', message, { cause: withoutText(error) })
  }
}

/** The error without its message. V8 quotes the text in the message, and the text may contain a secret. */
function withoutText(error: unknown): Error {
  return new Error((error as Error).name)
}
