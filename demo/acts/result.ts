import type { RotationChange } from '../rotation/change.ts'
import type { Failure } from '../traffic/lines.ts'

/** The result of one act, as seen from outside. Instants are milliseconds since 1970. */
export interface ActResult {
  name: string
  /** The reason why the act has given up, where it has. */
  complaint?: string
  pods: readonly string[]
  startedAt: number
  /** The instant when all pods were home. */
  homeAt: number
  /** The instant when the last request was answered. */
  endedAt: number
  requests: number
  failures: readonly Failure[]
  changes: readonly RotationChange[]
  /** The times when the node was silent. */
  silences: readonly { from: number; to?: number }[]
}
