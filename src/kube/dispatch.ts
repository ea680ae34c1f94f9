import type { Dispatcher } from 'undici'
import { describeCause } from './describe-cause.ts'
import { TransportError, type TransportResponse } from './transport.ts'

export interface DispatchRequest {
  dispatcher: Dispatcher
  options: Dispatcher.DispatchOptions
  signal: AbortSignal | undefined
  /** What it throws ends the request unsent. */
  beforeSend?: (() => void) | undefined
  /** Gets the body of a 2xx answer, whose `text` is then empty. */
  onChunk?: (chunk: Buffer) => void
  /** A 2xx answer begins. */
  onOpen?: (() => void) | undefined
}

/**
 * One request on undici's own dispatch interface, which unlike `request()` tells when bytes leave: `onRequestStart`
 * runs right before the head is written to a connected (TLS: secured) socket, also behind a tunnelling proxy.
 * So what fails before it has sent nothing, whatever the error; everything after it may have been seen.
 */
export function dispatch({
  dispatcher,
  options,
  signal,
  beforeSend,
  onChunk,
  onOpen,
}: DispatchRequest): Promise<TransportResponse> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined
    let settled = false
    let status = 0
    let headers: Record<string, string> = {}
    const body: Buffer[] = []

    function settle(finish: () => void): void {
      if (settled) return
      settled = true
      signal?.removeEventListener('abort', onAbort)
      finish()
    }

    function fail(error: unknown): void {
      const bytesLeft = controller !== undefined
      settle(() => reject(new TransportError(describeCause(error), { bytesLeft, cause: error })))
    }

    function onAbort(): void {
      const reason = new Error('given up')
      fail(reason)
      // The socket is destroyed with it: what comes late must not be read as the answer to the next request.
      controller?.abort(reason)
    }

    if (signal?.aborted === true) return fail(new Error('given up'))
    signal?.addEventListener('abort', onAbort)
    dispatcher.dispatch(options, {
      onRequestStart(started) {
        // Thrown before anything is written, which takes the request out of the queue and leaves the socket as it is.
        // A request that was given up as never sent must not be sent afterwards; and none is ever sent twice.
        if (settled) throw new Error('given up before it was sent')
        if (controller !== undefined) throw new Error('the connection was lost, and the request is not sent again')
        beforeSend?.()
        controller = started
      },
      onResponseStart(_controller, statusCode, responseHeaders) {
        status = statusCode
        headers = flatten(responseHeaders)
        if (!settled && isSuccess(status)) onOpen?.()
      },
      onResponseData(_controller, chunk) {
        if (settled) return
        if (onChunk !== undefined && isSuccess(status)) onChunk(chunk)
        else body.push(chunk)
      },
      onResponseEnd() {
        settle(() => resolve({ status, headers, text: Buffer.concat(body).toString('utf8') }))
      },
      onResponseError(_controller, error) {
        fail(error)
      },
    })
  })
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value
  }
  return flat
}
