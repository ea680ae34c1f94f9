import { type Transport, TransportError, type TransportRequest, type TransportResponse } from '../transport.ts'
import type { VirtualClock } from './virtual-clock.ts'

/** A request that has reached the other side, which the test plays. */
export interface Incoming {
  request: TransportRequest
  stream: boolean
  path: string
  query: URLSearchParams
  /** The answer to a watch begins: at its first line, unless the test says so before. */
  open(): void
  answer(status: number, body: unknown, headers?: Record<string, string>): void
  /** An event of a watch; a string is sent as it is. */
  line(event: unknown): void
  /** The server closes the watch in order. */
  end(): void
  fail(bytesLeft: boolean): void
}

export interface ScriptedTransport extends Transport {
  /** The next request, firing timers until it comes. */
  next(): Promise<Incoming>
  /** Requests that came and were not taken. */
  waiting(): number
}

export interface ScriptOptions {
  /** What the transport says when a request is given up; undefined: it never notices. */
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
