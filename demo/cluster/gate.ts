import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** The way to an API server, which can be cut. */
export interface Gate {
  /** The URL of the API server by this way. */
  url: string
  /** Breaks all connections, and accepts no others. */
  cut(): void
  restore(): void
  close(): Promise<void>
}

export async function openGate(to: string): Promise<Gate> {
  const { hostname, port, pathname } = new URL(to)
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((incoming) => {
    if (isCut) {
      incoming.destroy()
      return
    }
    const outgoing = connect(Number(port), hostname)
    const ends = [incoming, outgoing]
    const end = (): void => ends.forEach((socket) => socket.destroy())
    for (const socket of ends) {
      sockets.add(socket)
      socket.once('error', end).once('close', () => {
        sockets.delete(socket)
        end()
      })
    }
    incoming.pipe(outgoing).pipe(incoming)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  server.unref()
  const breakAll = (): void => sockets.forEach((socket) => socket.destroy())
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    cut() {
      isCut = true
      breakAll()
    },
    restore() {
      isCut = false
    },
    async close() {
      breakAll()
      server.close()
      await once(server, 'close')
    },
  }
}
