import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

export interface Connections {
  /** Ends those that have nothing to do, and waits for the answers of the others. Returns how many requests were cut after the grace. */
  drain(graceMs: number): Promise<number>
}

/** An answer is out, and its connection about to end, or the client has not begun a request: it need not be waited for. */
const LAST_BYTES_MS = 100

/** Counts what is under way on a server. A listener of requests comes first, so that it can still ask for the end of the connection. */
export function trackConnections(server: Server): Connections {
  const sockets = new Set<Socket>()
  const underWay = new Set<ServerResponse>()
  let draining = false
  let changed = (): void => {}

  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => {
      sockets.delete(socket)
      changed()
    })
  })
  server.on('request', (_: IncomingMessage, response: ServerResponse) => {
    underWay.add(response)
    if (draining) endAfter(response)
    response.once('close', () => {
      underWay.delete(response)
      changed()
    })
  })

  /** Resolves once it is so, or the time is over. */
  async function until(condition: () => boolean, ms: number): Promise<void> {
    const over = new AbortController()
    const met = new Promise<void>((resolve) => {
      changed = () => {
        if (condition()) resolve()
      }
      changed()
    })
    await Promise.race([met, wait(ms, undefined, { signal: over.signal }).catch(() => undefined)])
    over.abort()
  }

  return {
    async drain(graceMs) {
      draining = true
      for (const response of underWay) endAfter(response)
      await until(() => underWay.size === 0, graceMs)
      const cut = underWay.size
      if (cut === 0) await until(() => sockets.size === 0, LAST_BYTES_MS)
      for (const socket of sockets) socket.destroy()
      return cut
    },
  }
}

function endAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close')
}
