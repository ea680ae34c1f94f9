import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import type { ClusterInfo } from './cluster-info.ts'

export interface Forward {
  /** The address host:port on the loopback of the host. */
  address: string
  port: number
  close(): Promise<void>
}

/** Opens a path from the host to an address in the network of the cluster, through the init process. */
export async function startForward(info: ClusterInfo, address: string): Promise<Forward> {
  const open = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (incoming) => {
    const outgoing = connect({ path: join(info.dir, 'dial.sock'), allowHalfOpen: true })
    outgoing.write(`${address}\n`)
    for (const [socket, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      open.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        open.delete(socket)
        other.destroy()
      })
    }
    incoming.pipe(outgoing)
    outgoing.pipe(incoming)
  })
  server.unref()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    address: `127.0.0.1:${port}`,
    port,
    close() {
      for (const socket of open) {
        socket.destroy()
      }
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
