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
  /** Who has the workload: the same command goes on once that one is done. */
  readonly holder: string | undefined
  constructor(kind: RunErrorKind, message: string, options: { cause?: unknown; holder?: string } = {}) {
    super(message, { cause: options.cause })
    this.kind = kind
    this.holder = options.holder
  }
}

/** By another owner, or another’s write. */
export function isTaken(error: unknown): boolean {
  return error instanceof RunError && error.kind === 'conflict'
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
