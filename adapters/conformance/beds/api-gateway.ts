/** Plain HTTP before an API server, with the token of one user: what a wire can read. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { KubernetesProcess, User } from './kubernetes-process.ts'

export interface ApiGateway {
  url: string
  /** From now on calls are those of this user. */
  become(user: User): void
  close(): void
}

export async function startApiGateway(kubernetes: KubernetesProcess, first: User): Promise<ApiGateway> {
  let user = first
  const server = createServer(async (asked, response) => {
    try {
      const body = Buffer.concat((await asked.toArray()) as Buffer[])
      const answer = await kubernetes.open(user, asked.method!, asked.url!, body.length === 0 ? undefined : body)
      response.writeHead(answer.statusCode!, { 'content-type': answer.headers['content-type'] })
      answer.pipe(response)
    } catch {
      response.destroy()
    }
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    become(other) {
      user = other
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
