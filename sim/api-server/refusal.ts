import type { Kind } from './kinds.ts'
import type { ApiAnswer } from './server.ts'

interface StatusCause {
  reason?: string
  message: string
  field?: string
}

interface Details {
  name?: string
  group?: string
  kind?: string
  uid?: string
  causes?: StatusCause[]
  retryAfterSeconds?: number
}

/** An error that ends a request with an unsuccessful answer. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly answer: ApiAnswer
  constructor(message: string, answer: ApiAnswer) {
    super(message)
    this.answer = answer
  }
}

/** Returns a refusal with a Status object. `reason` and `details` are optional, as in the answers of a real API server. */
export function refusal(code: number, reason: string | undefined, message: string, details?: Details, metadata = {}): Refusal {
  const status = { kind: 'Status', apiVersion: 'v1', metadata, status: 'Failure', message, reason, details, code }
  return new Refusal(message, { status: code, headers: { 'content-type': 'application/json' }, text: JSON.stringify(status) })
}

/** Returns the refusal of a path that belongs to no API. It has no Status. */
export function pageNotFound(): Refusal {
  const text = '404 page not found\n'
  return new Refusal(text, { status: 404, headers: { 'content-type': 'text/plain; charset=utf-8' }, text })
}

type Named = Pick<Kind, 'plural' | 'group' | 'resource'>

/** Returns the details of most answers: `kind` holds the plural of the resource. */
function about(kind: Named, name: string): Details {
  return { ...(name === '' ? {} : { name }), ...(kind.group === '' ? {} : { group: kind.group }), kind: kind.plural }
}

export function badRequest(message: string): Refusal {
  return refusal(400, 'BadRequest', message)
}

export function notFound(kind: Named, name: string): Refusal {
  return refusal(404, 'NotFound', `${kind.resource} "${name}" not found`, about(kind, name))
}

export function noSuchResource(): Refusal {
  return refusal(404, 'NotFound', 'the server could not find the requested resource', {})
}

export function methodNotAllowed(): Refusal {
  return refusal(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {})
}

export function alreadyExists(kind: Named, name: string): Refusal {
  return refusal(409, 'AlreadyExists', `${kind.resource} "${name}" already exists`, about(kind, name))
}

export function conflict(kind: Named, name: string, why: string): Refusal {
  return refusal(409, 'Conflict', `Operation cannot be fulfilled on ${kind.resource} "${name}": ${why}`, about(kind, name))
}

export const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again'

export interface FieldError {
  type:
    | 'FieldValueForbidden'
    | 'FieldValueInvalid'
    | 'FieldValueNotSupported'
    | 'FieldValueRequired'
    | 'FieldValueTooLong'
    | 'FieldValueTypeInvalid'
  /** The text after the name of the field, such as `Forbidden: ...`. */
  message: string
  field: string
}

/** Returns the refusal of an invalid object, with one cause for each wrong field. The message names the kind: `StatefulSet.apps`. */
export function invalid({ kind, group }: Pick<Kind, 'kind' | 'group'>, name: string, errors: readonly FieldError[]): Refusal {
  const said = errors.map(({ field, message }) => `${field}: ${message}`)
  const list = said.length === 1 ? said[0]! : `[${said.join(', ')}]`
  return refusal(422, 'Invalid', `${kind}${group === '' ? '' : `.${group}`} "${name}" is invalid: ${list}`, {
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { group }),
    kind,
    causes: errors.map(({ type, message, field }) => ({ reason: type, message, field })),
  })
}

/** Returns the refusal of a patch that cannot be applied, such as a failed `test`. An invalid request gets the same answer. */
export function unprocessable(): Refusal {
  return refusal(422, 'Invalid', 'the server rejected our request due to an error in our request', {})
}

export function expired(message: string, metadata = {}): Refusal {
  return refusal(410, 'Expired', message, undefined, metadata)
}
