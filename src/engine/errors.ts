/**
 * - `preflight`: it cannot start, and nothing was touched
 * - `conflict`: another owner has the workload
 */
export type RunErrorKind = 'preflight' | 'conflict'

/** A run cannot be prepared. */
export class RunError extends Error {
  override readonly name = 'RunError'
  readonly component = 'engine'
  readonly kind: RunErrorKind
  constructor(kind: RunErrorKind, message: string, options: { cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.kind = kind
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
