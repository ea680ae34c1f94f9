/**
 * The seam between sluice and an API server. Everything above it (reflector, patches, error classes)
 * is the same on a real cluster and in simulation.
 */
export interface TransportRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path and query, for example `/api/v1/namespaces/default/pods?limit=500`. */
  path: string
  headers: Record<string, string>
  body?: string
  signal?: AbortSignal
  /** Called right before the bytes leave, on a connected socket. What it throws ends the request unsent. */
  beforeSend?: () => void
}

export interface TransportResponse {
  status: number
  /** Lower-case names. */
  headers: Record<string, string>
  text: string
}

export interface Transport {
  /** One request, one answer. Rejects with a TransportError. */
  send(request: TransportRequest): Promise<TransportResponse>
  /**
   * A watch: `onOpen` is called when a 2xx answer begins, `onLine` gets each complete line of it. Resolves when the server
   * ends the stream (`text` is then empty) or with the whole answer when the status is not 2xx. Rejects with a
   * TransportError.
   */
  stream(request: TransportRequest, onLine: (line: string) => void, onOpen?: () => void): Promise<TransportResponse>
  close(): Promise<void>
}

/** No answer came. `bytesLeft` says whether the server may have seen the request. */
export class TransportError extends Error {
  override readonly name = 'TransportError'
  /** False only where it is proven that no byte of the request left this process. */
  readonly bytesLeft: boolean
  /** What to do about it, where that is known. */
  readonly hint: string | undefined
  constructor(message: string, options: { bytesLeft: boolean; hint?: string; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.bytesLeft = options.bytesLeft
    this.hint = options.hint
  }
}
