import { AdapterError } from '../../adapters/contract.ts'
import { apiReason, KubeError } from '../kube/errors.ts'
import type { Reason } from '../reasons/reason.ts'
import { WorkloadError } from '../workloads/errors.ts'

/**
 * The kinds of a RunError:
 * - `preflight`: the run cannot start, and sluice has changed nothing.
 * - `conflict`: another owner holds the workload.
 * - `deadline`: the run cannot watch the cluster, or cannot renew its Lease, any more.
 * - `aborted`: the run that an abort was to end has been ended by another process.
 */
export type RunErrorKind = 'preflight' | 'conflict' | 'deadline' | 'aborted'

/** The error of a run that cannot be prepared. */
export class RunError extends Error {
  override readonly name = 'RunError'
  readonly component = 'engine'
  readonly kind: RunErrorKind
  readonly reason: Reason
  /** The identity of the owner that holds the workload. The same command can go on once that owner is done. */
  readonly holder: string | undefined
  constructor(kind: RunErrorKind, reason: Reason, options: { cause?: unknown; holder?: string } = {}) {
    super(reason.code, { cause: options.cause })
    this.kind = kind
    this.reason = reason
    this.holder = options.holder
  }
}

/** Reports whether the error tells of another owner, or of a write of another owner. */
export function isTaken(error: unknown): boolean {
  return error instanceof RunError && error.kind === 'conflict'
}

/** A call to a load balancer that the engine itself held back. */
export class Withheld extends AdapterError {
  readonly reason: Reason
  constructor(reason: Reason) {
    super('engine', 'retryable', reason.code)
    this.reason = reason
  }
}

/** Makes a reason of an error. The reason quotes the text of the error's source. */
export function reasonOf(error: unknown): Reason {
  if (error instanceof RunError || error instanceof WorkloadError || error instanceof Withheld) return error.reason
  if (error instanceof AdapterError)
    return { code: 'load-balancer-error', adapter: error.component, kind: error.kind, said: error.message }
  if (error instanceof KubeError) return apiReason(error)
  return { code: 'error', said: error instanceof Error ? error.message : String(error) }
}
