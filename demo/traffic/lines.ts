/** A line of the traffic generator, as JSON. Instants are milliseconds since 1970. */
export type TrafficLine =
  /** Answered requests do not differ, so only their number is reported, a few times a second. */
  | { type: 'answered'; at: number; count: number }
  | Failure
  /** The last line: no request is in flight. */
  | { type: 'end'; at: number; late: number; maxLateMs: number }

export interface Failure {
  type: 'failed'
  /** The instant when the request was sent. */
  at: number
  /** A status such as 502, or ECONNREFUSED, ECONNRESET, cut (an answer that stopped in the middle), timeout, … */
  kind: string
  /** The pod that should have answered. Absent where the load balancer could not choose one, or could not name it. */
  pod?: string
}
