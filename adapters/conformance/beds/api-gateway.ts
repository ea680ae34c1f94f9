/** A plain HTTP gateway to an API server, with the token of one user. A wire can read its traffic. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { KubernetesProcess, User } from './kubernetes-process.ts'

export interface ApiGateway {
  url: string
  /** Sends all later calls as this user. */
  become(user: User): void
  /** Runs before the gateway forwards a PUT. `count` is the number of PUTs so far, from 1. */
  onWrite?: (count: number) => Promise<void>
  /** The status of the answer to each PUT. */
  written: number[]
  close(): void
}

export async function startApiGateway(kubernetes: KubernetesProcess, first: User): Promise<ApiGateway> {
  let user = first
  let writes = 0
  const server = createServer(async (asked, response) => {
    try {
      const body = Buffer.concat((await asked.toArray()) as Buffer[])
      if (asked.method === 'PUT') await gateway.onWrite?.((writes += 1))
      const answer = await kubernetes.open(user, asked.method!, asked.url!, body.length === 0 ? undefined : body)
      if (asked.method === 'PUT') gateway.written.push(answer.statusCode!)
      response.writeHead(answer.statusCode!, { 'content-type': answer.headers['content-type'] })
      answer.pipe(response)
    } catch {
      response.destroy()
    }
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const gateway: ApiGateway = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    written: [],
    become(other) {
      user = other
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
  return gateway
}
