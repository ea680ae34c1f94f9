import { AdapterError } from '../../adapters/contract.ts'
import { apiReason, KubeError } from '../kube/errors.ts'
import type { Reason } from '../reasons/reason.ts'
import { WorkloadError } from '../workloads/errors.ts'

/**
 * - `preflight`: it cannot start, and nothing was touched
 * - `conflict`: another owner has the workload
 * - `deadline`: the cluster cannot be watched any more, or the Lease not be renewed
 * - `aborted`: it was to end a run, which another has ended
 */
export type RunErrorKind = 'preflight' | 'conflict' | 'deadline' | 'aborted'

/** A run cannot be prepared. */
export class RunError extends Error {
  override readonly name = 'RunError'
  readonly component = 'engine'
  readonly kind: RunErrorKind
  readonly reason: Reason
  /** Who has the workload: the same command goes on once that one is done. */
  readonly holder: string | undefined
  constructor(kind: RunErrorKind, reason: Reason, options: { cause?: unknown; holder?: string } = {}) {
    super(reason.code, { cause: options.cause })
    this.kind = kind
    this.reason = reason
    this.holder = options.holder
  }
}

/** By another owner, or another’s write. */
export function isTaken(error: unknown): boolean {
  return error instanceof RunError && error.kind === 'conflict'
}

/** A call to a load balancer that the engine itself has held back. */
export class Withheld extends AdapterError {
  readonly reason: Reason
  constructor(reason: Reason) {
    super('engine', 'retryable', reason.code)
    this.reason = reason
  }
}

/** What an error says, with the words of whoever said it. */
export function reasonOf(error: unknown): Reason {
  if (error instanceof RunError || error instanceof WorkloadError || error instanceof Withheld) return error.reason
  if (error instanceof AdapterError)
    return { code: 'load-balancer-error', adapter: error.component, kind: error.kind, said: error.message }
  if (error instanceof KubeError) return apiReason(error)
  return { code: 'error', said: error instanceof Error ? error.message : String(error) }
}
