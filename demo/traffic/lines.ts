/** What the traffic generator tells, one JSON line each. Instants are milliseconds since 1970. */
export type TrafficLine =
  /** It cannot be told apart from others, so only their number is told, a few times a second. */
  | { type: 'answered'; at: number; count: number }
  | Failure
  /** The last line: nothing is in flight any more. */
  | { type: 'end'; at: number; late: number; maxLateMs: number }

export interface Failure {
  type: 'failed'
  /** When it was sent. */
  at: number
  /** A status such as 502, or ECONNREFUSED, ECONNRESET, cut (an answer that stopped in the middle), timeout, … */
  kind: string
  /** Which pod should have answered; missing where the load balancer had none to choose, or could not say. */
  pod?: string
}
