/** Carries calls to a load balancer. The implementation decides when a call arrives, and whether its answer returns. */
export interface Wire {
  /**
   * Makes one call. `leave` runs right before the bytes leave, and its error rejects the call. `arrive` runs when the bytes reach the other
   * side, and returns the answer. Rejects with a WireError where no answer came.
   */
  call<Answer>(call: { name: string; deadlineMs: number; leave(): void; arrive(): Answer }): Promise<Answer>
}

/** The error of a call without an answer. `bytesLeft` is false only where the other side has provably seen nothing. */
export class WireError extends Error {
  override readonly name = 'WireError'
  readonly bytesLeft: boolean
  constructor(message: string, options: { bytesLeft: boolean }) {
    super(message)
    this.bytesLeft = options.bytesLeft
  }
}
