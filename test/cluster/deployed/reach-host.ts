import { once } from 'node:events'
import { createServer, connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { nodeAddress } from '../cluster-info.ts'
import type { Cluster } from '../cluster.ts'

/** Copies bytes both ways, and ends both sides together. It also runs as text, in the network of the cluster. */
function relay(from: Socket, to: Socket): void {
  for (const [one, other] of [
    [from, to],
    [to, from],
  ] as const) {
    one.on('error', () => other.destroy())
    one.on('close', () => other.destroy())
    one.pipe(other)
  }
}

/** Opens a port at the node that leads to a port of the host, for pods: they have no other way to it. Returns how it is closed. */
export async function reachHost(cluster: Cluster, nodePort: number, hostPort: number): Promise<() => Promise<void>> {
  const path = join(cluster.info.dir, `host-${nodePort}.sock`)
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    relay(socket, connect(hostPort, '127.0.0.1'))
  })
  server.listen(path)
  await once(server, 'listening')
  const inside = `const { createServer, connect } = require('node:net')
${relay.toString()}
createServer((socket) => relay(socket, connect(${JSON.stringify(path)}))).listen(${nodePort}, '${nodeAddress}')`
  const child = await cluster.spawn(process.execPath, ['-e', inside], { stdio: 'ignore' })
  return async () => {
    child.kill('SIGKILL')
    for (const socket of open) socket.destroy()
    server.close()
    await once(server, 'close')
  }
}
