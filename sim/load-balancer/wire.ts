/** Carries calls to a load balancer; whoever implements it decides when they arrive and whether an answer comes back. */
export interface Wire {
  /**
   * One call. `leave` runs right before the bytes leave, and what it throws rejects the call; `arrive` runs when they
   * reach the other side, and what it returns is the answer. Rejects with a WireError where no answer came.
   */
  call<Answer>(call: { name: string; deadlineMs: number; leave(): void; arrive(): Answer }): Promise<Answer>
}

/** No answer came. `bytesLeft` is false only where it is proven that the other side has seen nothing. */
export class WireError extends Error {
  override readonly name = 'WireError'
  readonly bytesLeft: boolean
  constructor(message: string, options: { bytesLeft: boolean }) {
    super(message)
    this.bytesLeft = options.bytesLeft
  }
}
