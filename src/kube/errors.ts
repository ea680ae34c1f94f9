import type { ReasonOf } from '../reasons/reason.ts'

/**
 * The effect of a failed call:
 * - `definite`: the server refused, or no byte left this process; nothing was changed
 * - `conflict`: refused because the object has changed (409; 412)
 * - `throttled`: refused for now (429); nothing was changed
 * - `ambiguous`: bytes left, and no reliable answer came (timeout, reset, 5xx); a write may have happened
 */
export type KubeErrorKind = 'definite' | 'conflict' | 'throttled' | 'ambiguous'

export interface KubeErrorFields {
  kind: KubeErrorKind
  method: string
  /** The path without the query. */
  path: string
  /** HTTP status, if there was an answer. */
  status?: number
  /** `reason` of the Status object, such as NotFound, Invalid, Forbidden. */
  reason?: string
  retryAfterMs?: number
  /** How to correct it, if that is known. */
  hint?: string | undefined
  cause?: unknown
}

/** A call to the API server failed. The message contains no headers and no credentials. */
export class KubeError extends Error {
  override readonly name = 'KubeError'
  readonly component = 'kube'
  readonly kind: KubeErrorKind
  readonly method: string
  readonly path: string
  readonly status: number | undefined
  readonly reason: string | undefined
  readonly retryAfterMs: number | undefined
  readonly hint: string | undefined
  constructor(message: string, fields: KubeErrorFields) {
    super(message, { cause: fields.cause })
    this.kind = fields.kind
    this.method = fields.method
    this.path = fields.path
    this.status = fields.status
    this.reason = fields.reason
    this.retryAfterMs = fields.retryAfterMs
    this.hint = fields.hint
  }
}

/** True if the object has changed, or exists already. */
export function isConflict(error: unknown): boolean {
  return error instanceof KubeError && error.kind === 'conflict'
}

/**
 * True if a `test` of a JSON Patch failed. The API server answers with the code and reason of a failed validation, but without causes, so
 * only the text of the message tells the two apart (measured on 1.32 to 1.37).
 */
export function isFailedPatchTest({ status, message }: KubeError): boolean {
  return status === 422 && message.includes('the server rejected our request due to an error in our request')
}

/** True if the object does not exist. A 404 without the API server's reason comes from a gateway, and does not tell about objects. */
export function isNotFound(error: unknown): boolean {
  return error instanceof KubeError && error.status === 404 && error.reason === 'NotFound'
}

/**
 * True if authentication or authorization failed, but not for a refusal of admission, which is a 403 too. A starting API server refuses
 * requests like this for some hundred milliseconds, until it knows its own rules (measured).
 */
export function isUnauthorized(error: KubeError): boolean {
  return error.status === 401 || isMissingRight(error.status, error.message)
}

/**
 * True if the authorizer refused the request. Admission sends a 403 too, for a full quota, a Pod Security level, a terminating namespace or
 * a webhook; rights do not help with these.
 */
export function isMissingRight(status: number | undefined, message: string): boolean {
  return status === 403 && / cannot \S+ (resource|path) /.test(message)
}

/** The error of a call, in the words of the API server or of the connection. */
export function apiReason({ kind, status, message }: KubeError): ReasonOf<'api-error'> {
  return { code: 'api-error', kind, ...(status === undefined ? {} : { status }), said: message }
}
