import type { RotationChange } from '../rotation/change.ts'
import type { Failure } from '../traffic/lines.ts'

/** One act, as it was seen from outside. Instants are milliseconds since 1970. */
export interface ActResult {
  name: string
  /** Why it has given up, where it has. */
  complaint?: string
  pods: readonly string[]
  startedAt: number
  /** When all pods were home. */
  homeAt: number
  /** When the last request was answered. */
  endedAt: number
  requests: number
  failures: readonly Failure[]
  changes: readonly RotationChange[]
  /** When the node was silent. */
  silences: readonly { from: number; to?: number }[]
}
