import { readFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Agent, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { ControlPlane, Json } from '../endpoints/control-plane.ts'

export interface ClockProxy {
  port: number
  close(): Promise<void>
}

/** Serves the API server of a cluster over HTTP, as one whose clock is off: the `Date` header says so. */
export async function startClockProxy({ url, kubeconfig }: ControlPlane, offsetMs: number): Promise<ClockProxy> {
  const { clusters, users } = JSON.parse(readFileSync(kubeconfig, 'utf8')) as Json
  const ca = Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64')
  const agent = new Agent({ ca, keepAlive: true })
  const server = createServer({ keepAliveTimeout: 0 }, (asked, answer) => {
    const headers = { ...asked.headers, authorization: `Bearer ${users[0].user.token}` }
    const sent = request(`${url}${asked.url}`, { method: asked.method, headers, agent }, (got) => {
      const date = new Date(Date.now() + offsetMs).toUTCString()
      answer.writeHead(got.statusCode!, { ...got.headers, date })
      // A watch sends its headers before its first event.
      answer.flushHeaders()
      got.pipe(answer)
      got.on('error', () => answer.destroy())
    })
    sent.on('error', () => answer.destroy())
    answer.on('close', () => sent.destroy())
    asked.pipe(sent)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
      agent.destroy()
    },
  }
}
