import { type Transport, TransportError, type TransportRequest, type TransportResponse } from '../transport.ts'
import type { VirtualClock } from './virtual-clock.ts'

/** A request that has arrived at the server, which the test plays. */
export interface Incoming {
  request: TransportRequest
  stream: boolean
  path: string
  query: URLSearchParams
  /** Begins the answer to a watch. Without this call, the first line begins it. */
  open(): void
  answer(status: number, body: unknown, headers?: Record<string, string>): void
  /** Sends an event of a watch; a string is sent unchanged. */
  line(event: unknown): void
  /** Closes the watch in an orderly way. */
  end(): void
  fail(bytesLeft: boolean): void
}

export interface ScriptedTransport extends Transport {
  /** The next request; timers fire until it arrives. */
  next(): Promise<Incoming>
  /** The number of requests that arrived and were not taken. */
  waiting(): number
}

export interface ScriptOptions {
  /** The report of the transport about a cancelled request. Undefined: the transport never notices the cancellation. */
  bytesLeftOnAbort?: boolean | undefined
}

export function createScriptedTransport(
  clock: VirtualClock,
  options: ScriptOptions = { bytesLeftOnAbort: true },
): ScriptedTransport {
  const incoming: Incoming[] = []

  function receive(
    request: TransportRequest,
    onLine?: (line: string) => void,
    onOpen: () => void = () => {},
  ): Promise<TransportResponse> {
    return new Promise((resolve, reject) => {
      const url = new URL(request.path, 'http://api')
      const fail = (bytesLeft: boolean) => reject(new TransportError('connection lost', { bytesLeft }))
      incoming.push({
        request,
        stream: onLine !== undefined,
        path: url.pathname,
        query: url.searchParams,
        answer: (status, body, headers = {}) => resolve({ status, headers, text: asText(body) }),
        open: onOpen,
        line(event) {
          onOpen()
          onLine?.(asText(event))
        },
        end: () => resolve({ status: 200, headers: {}, text: '' }),
        fail,
      })
      const { bytesLeftOnAbort } = options
      if (bytesLeftOnAbort !== undefined) request.signal?.addEventListener('abort', () => fail(bytesLeftOnAbort))
    })
  }

  return {
    send: (request) => receive(request),
    stream: (request, onLine, onOpen) => receive(request, onLine, onOpen),
    close: async () => {},
    async next() {
      await clock.runUntil(() => incoming.length > 0)
      return incoming.shift() as Incoming
    },
    waiting: () => incoming.length,
  }
}

function asText(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body)
}
