/** The limits on the use of the server by its clients. */
export interface Limits {
  /** The largest body of a request. A longer one gets 413. */
  largestBodyBytes: number
  /** The largest headers of a request. Longer headers get 431. */
  largestHeaderBytes: number
  /** The time from the connection, or the first byte of a further request, to the end of the headers. A slower client gets 408. */
  headersMs: number
  /** The time from the connection, or the first byte of a further request, to the end of the body. A slower client gets 408. */
  requestMs: number
  /** A connection on which no byte moves for this long is cut, even in the middle of an answer. */
  silenceMs: number
  /** The time between two requests of a connection, after which the connection is closed. */
  keepAliveMs: number
  /** The largest number of connections. A further connection is closed at once. */
  connections: number
}

export const LIMITS: Limits = {
  // An object of Kubernetes has up to 1.5 MiB, and the AdmissionReview of an update has both of its versions.
  largestBodyBytes: 4 * 1024 * 1024,
  largestHeaderBytes: 16 * 1024,
  headersMs: 10_000,
  requestMs: 30_000,
  silenceMs: 60_000,
  // Prometheus, which scrapes at least every minute, and the API server leave a connection idle for less than this.
  keepAliveMs: 90_000,
  connections: 1000,
}
