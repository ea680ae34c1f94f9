import type { Reason } from '../reasons/reason.ts'
import { apiReason, isMissingRight, KubeError } from '../kube/errors.ts'

/**
 * - `not-found`: the workload or pod does not exist
 * - `forbidden`: the user lacks a right that the message names
 * - `conflict`: another client has changed or deleted the workload
 * - `deadline`: an awaited state was not reached in time; `deadline` names the deadline
 * - `invalid`: the API server or the object does not allow the operation; a retry does not help
 */
export type WorkloadErrorKind = 'not-found' | 'forbidden' | 'conflict' | 'deadline' | 'invalid'

/** A workload cannot be opened or prepared. */
export class WorkloadError extends Error {
  override readonly name = 'WorkloadError'
  readonly component = 'workloads'
  readonly kind: WorkloadErrorKind
  readonly reason: Reason
  /** Name of the passed deadline, if the kind is `deadline`. */
  readonly deadline: string | undefined
  constructor(kind: WorkloadErrorKind, reason: Reason, options: { cause?: unknown; deadline?: string } = {}) {
    super(reason.code, { cause: options.cause })
    this.reason = reason
    this.kind = kind
    this.deadline = options.deadline
  }
}

/**
 * Turns a 403 into an error that names the missing right, or says that admission refuses the request. Other errors are returned unchanged.
 */
export function namingTheRight(error: unknown, verbs: string[], resource: string, namespace: string): unknown {
  if (!(error instanceof KubeError) || error.status !== 403) return error
  if (!isMissingRight(error.status, error.message))
    return new WorkloadError('invalid', { code: 'refused-by-api-server', because: apiReason(error) }, { cause: error })
  return new WorkloadError('forbidden', { code: 'not-allowed', verbs, resource, namespace }, { cause: error })
}
