/** What came from elsewhere, in the words of whoever said it. */
export interface ErrorReasons {
  /** By an adapter; `kind` as in the adapter contract. */
  'load-balancer-error': { adapter: string; kind: string; said: string }
  /** By the API server, or on the way to it. */
  'api-error': { kind: string; status?: number; said: string }
  error: { said: string }
}
