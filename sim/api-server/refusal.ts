import type { ApiAnswer } from './server.ts'
import type { Kind } from './kinds.ts'

interface StatusCause {
  reason?: string
  message: string
  field?: string
}

/** The object that every refusal of the API server is. */
export interface Status {
  kind: 'Status'
  apiVersion: 'v1'
  metadata: Record<string, string>
  status: 'Failure'
  message: string
  reason?: string
  details?: { name?: string; group?: string; kind?: string; uid?: string; causes?: StatusCause[]; retryAfterSeconds?: number }
  code: number
}

/** Ends a request with an answer that is no success. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: Status
  constructor(code: number, reason: string, message: string, details?: Status['details']) {
    super(message)
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      ...(reason === '' ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code,
    }
  }
}

export function answerOf({ status }: Refusal): ApiAnswer {
  return { status: status.code, headers: { 'content-type': 'application/json' }, text: JSON.stringify(status) }
}

type Named = Pick<Kind, 'plural' | 'group' | 'resource'>

/** Of most answers: the resource goes by its plural, as `kind`. */
function aboutObject(kind: Named, name: string): NonNullable<Status['details']> {
  return { ...(name === '' ? {} : { name }), ...(kind.group === '' ? {} : { group: kind.group }), kind: kind.plural }
}

export function badRequest(message: string): Refusal {
  return new Refusal(400, 'BadRequest', message)
}

export function notFound(kind: Named, name: string): Refusal {
  return new Refusal(404, 'NotFound', `${kind.resource} "${name}" not found`, aboutObject(kind, name))
}

export function noSuchResource(): Refusal {
  return new Refusal(404, 'NotFound', 'the server could not find the requested resource', {})
}

export function alreadyExists(kind: Named, name: string): Refusal {
  return new Refusal(409, 'AlreadyExists', `${kind.resource} "${name}" already exists`, aboutObject(kind, name))
}

export function conflict(kind: Named, name: string, why: string): Refusal {
  return new Refusal(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${kind.resource} "${name}": ${why}`,
    aboutObject(kind, name),
  )
}

export const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again'

export interface FieldError {
  type: 'FieldValueForbidden' | 'FieldValueInvalid' | 'FieldValueRequired' | 'FieldValueTooLong' | 'FieldValueTypeInvalid'
  /** What follows the field's name, such as `Forbidden: ...`. */
  message: string
  field: string
}

/** Validation: one cause for each wrong field. */
export function invalid(kind: Kind, name: string, errors: readonly FieldError[]): Refusal {
  const said = errors.map(({ field, message }) => `${field}: ${message}`)
  const list = said.length === 1 ? said[0]! : `[${said.join(', ')}]`
  return new Refusal(422, 'Invalid', `${kind.kind}${kind.group === '' ? '' : `.${kind.group}`} "${name}" is invalid: ${list}`, {
    name,
    ...(kind.group === '' ? {} : { group: kind.group }),
    kind: kind.kind,
    causes: errors.map(({ type, message, field }) => ({ reason: type, message, field })),
  })
}

/** What a patch that cannot be applied gets, a failed `test` included: not to be told from an invalid request. */
export function unprocessable(): Refusal {
  return new Refusal(422, 'Invalid', 'the server rejected our request due to an error in our request', {})
}

export function expired(message: string, metadata: Record<string, string> = {}): Refusal {
  const refusal = new Refusal(410, 'Expired', message)
  refusal.status.metadata = metadata
  return refusal
}
