import type { ReasonOf } from '../reasons/reason.ts'

/**
 * What a failed call says about the world:
 * - `definite`: the server refused, or no byte left: nothing was changed
 * - `conflict`: refused because the object is another by now (409; 412)
 * - `throttled`: refused for now (429): nothing was changed
 * - `ambiguous`: bytes left and no trustworthy answer came (timeout, reset, 5xx): a write may have happened
 */
export type KubeErrorKind = 'definite' | 'conflict' | 'throttled' | 'ambiguous'

export interface KubeErrorFields {
  kind: KubeErrorKind
  method: string
  /** Without the query. */
  path: string
  /** HTTP status, where an answer came. */
  status?: number
  /** `reason` of the Status object, such as NotFound, Invalid, Forbidden. */
  reason?: string
  retryAfterMs?: number
  /** What to do about it, where that is known. */
  hint?: string | undefined
  cause?: unknown
}

/** A call to the API server failed. The message holds no headers and no credentials. */
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

/** The object was changed meanwhile, or is there already. */
export function isConflict(error: unknown): boolean {
  return error instanceof KubeError && error.kind === 'conflict'
}

/**
 * A `test` of a JSON Patch has failed. The API server answers with the code and reason of a validation and without causes, so that only
 * its text tells the two apart (measured on 1.32 to 1.37).
 */
export function isFailedPatchTest({ status, message }: KubeError): boolean {
  return status === 422 && message.includes('the server rejected our request due to an error in our request')
}

/** There is no such object. A 404 without the API server's reason is of a gateway before it, and says nothing of objects. */
export function isNotFound(error: unknown): boolean {
  return error instanceof KubeError && error.status === 404 && error.reason === 'NotFound'
}

/**
 * Nobody knew who asked, or what they may do; not refused by admission, which says 403 too. An API server that has just begun refuses
 * so for some hundred milliseconds, until it knows its own rules: measured.
 */
export function isUnauthorized(error: KubeError): boolean {
  return error.status === 401 || isMissingRight(error.status, error.message)
}

/**
 * The authorizer has refused it. Admission says 403 too: a full quota, a Pod Security level, a namespace that is being deleted, a
 * webhook. Rights help with none of these.
 */
export function isMissingRight(status: number | undefined, message: string): boolean {
  return status === 403 && / cannot \S+ (resource|path) /.test(message)
}

/** What a call has failed with, in the words of the API server or of the way to it. */
export function apiReason({ kind, status, message }: KubeError): ReasonOf<'api-error'> {
  return { code: 'api-error', kind, ...(status === undefined ? {} : { status }), said: message }
}
