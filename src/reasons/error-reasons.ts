/** Errors of other systems, in their own words. */
export interface ErrorReasons {
  /** An error of an adapter; `kind` is that of the adapter contract. */
  'load-balancer-error': { adapter: string; kind: string; said: string }
  /** An error of the API server, or of the connection to it. */
  'api-error': { kind: string; status?: number; said: string }
  error: { said: string }
}
