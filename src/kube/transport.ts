/**
 * The interface between sluice and an API server. The code above it (reflector, patches, error classes) runs unchanged on a real cluster
 * and in simulation.
 */
export interface TransportRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path and query, for example `/api/v1/namespaces/default/pods?limit=500`. */
  path: string
  headers: Record<string, string>
  body?: string
  signal?: AbortSignal
  /** Called right before the bytes leave, on a connected socket. An exception ends the request before it is sent. */
  beforeSend?: () => void
}

export interface TransportResponse {
  status: number
  /** The names are in lower case. */
  headers: Record<string, string>
  text: string
}

export interface Transport {
  /** Sends one request, and resolves with its answer. Rejects with a TransportError. */
  send(request: TransportRequest): Promise<TransportResponse>
  /**
   * Opens a watch. `onOpen` is called when a 2xx answer begins, `onLine` with each complete line of it. Resolves when the server ends the
   * stream (`text` is then empty), or with the whole answer if the status is not 2xx. Rejects with a TransportError.
   */
  stream(request: TransportRequest, onLine: (line: string) => void, onOpen?: () => void): Promise<TransportResponse>
  close(): Promise<void>
}

/** There was no answer. `bytesLeft` tells whether the server may have seen the request. */
export class TransportError extends Error {
  override readonly name = 'TransportError'
  /** False only if it is proven that no byte of the request left this process. */
  readonly bytesLeft: boolean
  /** How to correct it, if that is known. */
  readonly hint: string | undefined
  constructor(message: string, options: { bytesLeft: boolean; hint?: string; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.bytesLeft = options.bytesLeft
    this.hint = options.hint
  }
}
