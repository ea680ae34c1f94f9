/** The meaning of an error of the AWS SDK for the call. */
import { AdapterError, type AdapterErrorKind } from '../contract.ts'
import type { Flight } from '../watch-bytes.ts'

const THROTTLED = /^(Throttl|RequestLimitExceeded|RequestThrottled|TooManyRequests|SlowDown|BandwidthLimitExceeded)/
const NOT_ALLOWED = /^(AccessDenied|UnauthorizedOperation|AuthFailure|NotAuthorized|OptInRequired)/
const NOT_KNOWN =
  /^(InvalidClientTokenId|UnrecognizedClient|SignatureDoesNotMatch|InvalidSignature|MissingAuthenticationToken|IncompleteSignature)/
/** The credentials or the clock were outdated. The next call has newer ones. */
const EXPIRED = /^(ExpiredToken|RequestExpired|RequestTimeTooSkewed|TokenRefreshRequired)/
const NO_GROUP = /^TargetGroupNotFound/
/** The target group may be full, or the address may not be free again yet. */
const NO_PLACE = /^(InvalidTarget|TooManyTargets|TooManyRegistrationsForTargetId)/

interface ServiceError extends Error {
  $metadata?: { httpStatusCode?: number }
  $response?: { statusCode?: number }
}

export interface Attempt {
  component: string
  /** The action of the API, such as `DeregisterTargets`. */
  action: string
  targetGroup: string
  isWrite: boolean
  flight: Flight
  roleArn: string | undefined
}

export function adapterErrorOf(
  thrown: unknown,
  { component, action, targetGroup, isWrite, flight, roleArn }: Attempt,
): AdapterError {
  const error: ServiceError = thrown instanceof Error ? thrown : new Error(String(thrown))
  const failed = (kind: AdapterErrorKind, message: string): AdapterError =>
    new AdapterError(component, kind, message, { cause: error })
  const what = `${action} of ${targetGroup}`
  if (!flight.sent) return failed(...unsentProblem(error, what, roleArn))
  const status = error.$metadata?.httpStatusCode ?? error.$response?.statusCode
  const doubt = isWrite ? 'ambiguous' : 'retryable'
  if (status === undefined || status < 400) return failed(doubt, `${what}: no answer that can be read: ${error.message}`)
  const said = `${what}: ${error.name}: ${error.message}`
  if (THROTTLED.test(error.name)) return failed('throttled', said)
  if (NOT_ALLOWED.test(error.name))
    return failed('fatal', `${said}; allow elasticloadbalancing:${action} on the target group in the IAM policy`)
  if (NOT_KNOWN.test(error.name)) return failed('fatal', `${said}; these credentials are not known there`)
  if (NO_GROUP.test(error.name)) return failed('fatal', `${said}; name one that is there in targetGroups`)
  if (EXPIRED.test(error.name) || NO_PLACE.test(error.name)) return failed('retryable', said)
  if (status >= 500) return failed(doubt, said)
  return failed('fatal', said)
}

/** The kind and the message of a call that did not leave: there were no credentials or no connection. */
function unsentProblem(error: ServiceError, what: string, roleArn: string | undefined): [AdapterErrorKind, string] {
  if (NOT_ALLOWED.test(error.name) && roleArn !== undefined)
    return [
      'fatal',
      `${what}: not sent: ${error.message}; allow sts:AssumeRole on ${roleArn}, and trust these credentials in its trust policy`,
    ]
  return ['retryable', `${what}: not sent: ${error.message || error.name}`]
}

/** True if AWS refused one target of several. AWS then registers none of them. */
export function isForOneTarget({ cause }: AdapterError): boolean {
  return cause instanceof Error && NO_PLACE.test(cause.name)
}
