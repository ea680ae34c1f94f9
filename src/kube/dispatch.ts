import type { Dispatcher } from 'undici'
import { describeCause } from './describe-cause.ts'
import { TransportError, type TransportResponse } from './transport.ts'

export interface DispatchRequest {
  dispatcher: Dispatcher
  options: Dispatcher.DispatchOptions
  signal: AbortSignal | undefined
  /** An exception ends the request before it is sent. */
  beforeSend?: (() => void) | undefined
  /** Called with the body of a 2xx answer; `text` is then empty. */
  onChunk?: (chunk: Buffer) => void
  /** Called when a 2xx answer begins. */
  onOpen?: (() => void) | undefined
}

/**
 * One request on undici's dispatch interface, which tells when bytes leave, unlike `request()`. `onRequestStart` runs right before the head
 * is written to a connected (and with TLS, secured) socket, even through a tunnelling proxy. A failure before it has sent nothing; after
 * it, the server may have seen the request.
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
      // The abort destroys the socket, because late bytes must not be read as the answer to the next request.
      controller?.abort(reason)
    }

    if (signal?.aborted === true) return fail(new Error('given up'))
    signal?.addEventListener('abort', onAbort)
    dispatcher.dispatch(options, {
      onRequestStart(started) {
        // The exception comes before anything is written. It removes the request from the queue and keeps the socket. A request that was
        // reported as never sent must not be sent later, and no request is sent twice.
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
