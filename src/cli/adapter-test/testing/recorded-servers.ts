/** The API of the scaffold's load balancer, with a record of its changes. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface RecordedServers {
  url: string
  /** The changes, such as `PUT web-0`, in the order of arrival. */
  writes: string[]
  down: Set<string>
  /** Runs before each change. False refuses the change with a 403. */
  onWrite: ((write: string) => Promise<boolean> | boolean) | undefined
  close(): void
}

export async function startRecordedServers(
  all: readonly { name: string; address: string; port: number }[],
): Promise<RecordedServers> {
  const down = new Set<string>()
  const server = createServer(async ({ method = '', url = '' }, response) => {
    const [, , name = ''] = url.split('/')
    if (method !== 'GET') {
      const write = `${method} ${name}`
      servers.writes.push(write)
      if ((await servers.onWrite?.(write)) === false) return void response.writeHead(403).end('no right to do this')
      if (method === 'PUT') down.add(name)
      else down.delete(name)
    }
    const shown = all.map((one) => ({ ...one, down: down.has(one.name), requests: 0 }))
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(shown))
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const servers: RecordedServers = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    writes: [],
    down,
    onWrite: undefined,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
  return servers
}
