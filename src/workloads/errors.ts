import type { Reason } from '../reasons/reason.ts'
import { apiReason, isMissingRight, KubeError } from '../kube/errors.ts'

/**
 * - `not-found`: no such workload or pod
 * - `forbidden`: the user lacks a right that the message names
 * - `conflict`: somebody else changed or deleted the workload meanwhile
 * - `deadline`: what was waited for did not come; `deadline` names it
 * - `invalid`: the API server or the object itself makes it impossible; trying again cannot help
 */
export type WorkloadErrorKind = 'not-found' | 'forbidden' | 'conflict' | 'deadline' | 'invalid'

/** A workload cannot be opened, or not be prepared. */
export class WorkloadError extends Error {
  override readonly name = 'WorkloadError'
  readonly component = 'workloads'
  readonly kind: WorkloadErrorKind
  readonly reason: Reason
  /** Name of the deadline that fired, where kind is `deadline`. */
  readonly deadline: string | undefined
  constructor(kind: WorkloadErrorKind, reason: Reason, options: { cause?: unknown; deadline?: string } = {}) {
    super(reason.code, { cause: options.cause })
    this.reason = reason
    this.kind = kind
    this.deadline = options.deadline
  }
}

/** A 403 as an error that names the missing right, or that admission refuses; every other error stays what it is. */
export function namingTheRight(error: unknown, verbs: string[], resource: string, namespace: string): unknown {
  if (!(error instanceof KubeError) || error.status !== 403) return error
  if (!isMissingRight(error.status, error.message))
    return new WorkloadError('invalid', { code: 'refused-by-api-server', because: apiReason(error) }, { cause: error })
  return new WorkloadError('forbidden', { code: 'not-allowed', verbs, resource, namespace }, { cause: error })
}
