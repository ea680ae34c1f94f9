import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

export interface Connections {
  /** Waits up to `graceMs` for the answers, then ends all connections. Returns the number of requests that were cut. */
  drain(graceMs: number): Promise<number>
}

/** Once no request is under way, a connection has this long to end by itself. */
const LAST_BYTES_MS = 100

/** Counts the requests and connections of a server. Call before other listeners of requests, which may send headers at once. */
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

  /** Resolves once the condition is met, or after `ms`. */
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
