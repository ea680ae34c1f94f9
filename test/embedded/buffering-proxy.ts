import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * The data that the proxy holds back:
 * - `nothing`: all data passes as it comes
 * - `events`: only the headers of a watch pass, and the rest passes at its end
 * - `answers`: no data of a watch passes before its end
 * - `blocks`: data of a watch passes when a buffer is full, as with nginx
 */
export type Holds = 'nothing' | 'events' | 'answers' | 'blocks'

export interface BufferingProxy {
  url: string
  /** The numbers of requests that have passed. */
  passed: { watches: number; others: number }
  hold(what: Holds): void
  close(): Promise<void>
}

const BUFFER = 16 * 1024

/** Starts a reverse proxy on loopback before the server at `url`, which may have a path. */
export async function startBufferingProxy(url: string): Promise<BufferingProxy> {
  const { hostname, port, pathname } = new URL(url)
  const passed = { watches: 0, others: 0 }
  let holds: Holds = 'nothing'

  function serve(incoming: IncomingMessage, response: ServerResponse): void {
    const isWatch = /[?&]watch=(1|true)(&|$)/.test(incoming.url ?? '')
    passed[isWatch ? 'watches' : 'others'] += 1
    const { method, headers, url: path } = incoming
    const onward = request({ hostname, port, method, headers, path }, (answer) => {
      if (isWatch && holds !== 'nothing') holdBack(answer, response, holds)
      else {
        response.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(response)
      }
    })
    onward.on('error', () => response.destroy())
    response.on('close', () => onward.destroy())
    incoming.pipe(onward)
  }

  const server = createServer(serve)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    passed,
    hold: (what) => (holds = what),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

function holdBack(answer: IncomingMessage, response: ServerResponse, holds: Exclude<Holds, 'nothing'>): void {
  let held: Buffer[] = []
  const begin = (): unknown => response.headersSent || response.writeHead(answer.statusCode!, answer.headers)
  if (holds !== 'answers') {
    begin()
    response.flushHeaders()
  }
  answer.on('data', (chunk: Buffer) => {
    held.push(chunk)
    const size = held.reduce((sum, { length }) => sum + length, 0)
    if (holds !== 'blocks' || size < BUFFER) return
    const whole = Buffer.concat(held)
    const passes = whole.length - (whole.length % BUFFER)
    response.write(whole.subarray(0, passes))
    held = [whole.subarray(passes)]
  })
  answer.on('end', () => {
    begin()
    response.end(Buffer.concat(held))
  })
  answer.on('error', () => response.destroy())
}
