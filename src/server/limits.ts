/** What a client may use of the server. */
export interface Limits {
  /** Of a request; a longer one gets 413. */
  largestBodyBytes: number
  /** Longer headers get 431. */
  largestHeaderBytes: number
  /** From the connection, or the first byte of the next request, to the end of the headers; then 408. */
  headersMs: number
  /** The same to the end of the body. */
  requestMs: number
  /** A connection on which no byte moves for so long is cut, be it in the middle of an answer. */
  silenceMs: number
  /** Between two requests of a connection. */
  keepAliveMs: number
  /** More are closed at once. */
  connections: number
}

export const LIMITS: Limits = {
  // The largest object of Kubernetes is 1.5 MiB, and an AdmissionReview of its update has it twice.
  largestBodyBytes: 4 * 1024 * 1024,
  largestHeaderBytes: 16 * 1024,
  headersMs: 10_000,
  requestMs: 30_000,
  silenceMs: 60_000,
  // Longer than Prometheus, at most each minute, and the API server leave a connection idle.
  keepAliveMs: 90_000,
  connections: 1000,
}
