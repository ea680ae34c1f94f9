/** Health checks: a server is healthy while a connection to it can be made. */
import { connect } from 'node:net'
import type { Pool, Server } from './pool.ts'

function accepts({ address }: Server, withinMs: number): Promise<boolean> {
  const { hostname, port } = new URL(`http://${address}`)
  return new Promise((resolve) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 80) })
    const settle = (healthy: boolean) => {
      socket.destroy()
      resolve(healthy)
    }
    socket.once('connect', () => settle(true))
    socket.once('error', () => settle(false))
    socket.setTimeout(withinMs, () => settle(false))
  })
}

/** Checks all servers at this interval. The returned function stops the checks. */
export function startHealthChecks(pool: Pool, everyMs: number): () => void {
  async function checkOne(server: Server): Promise<void> {
    server.healthy = await accepts(server, everyMs)
  }
  const timer = setInterval(() => {
    for (const server of pool.servers()) void checkOne(server)
  }, everyMs)
  return () => clearInterval(timer)
}
