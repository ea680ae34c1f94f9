import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'

export interface ConnectProxy {
  url: string
  /** `host:port` of each requested tunnel. */
  tunnels: string[]
  authorizations: (string | undefined)[]
  /** Refuses every tunnel from now on. */
  refuse(): void
  /** Decides whether tunnels that are requested from now on get an answer. */
  stall(isStalled: boolean): void
  close(): Promise<void>
}

/** An HTTP proxy that supports CONNECT only. */
export async function startConnectProxy(): Promise<ConnectProxy> {
  const tunnels: string[] = []
  const authorizations: (string | undefined)[] = []
  const sockets = new Set<Socket>()
  let refusing = false
  let stalled = false
  const server = createServer((_request, response) => response.writeHead(405).end())
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => {})))
  server.on('connect', (request, client: Socket) => {
    const target = request.url ?? ''
    tunnels.push(target)
    authorizations.push(request.headers['proxy-authorization'])
    if (stalled) return undefined
    if (refusing) return client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    const [host = '', port = ''] = target.split(':')
    const upstream = connect(Number(port), host, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.pipe(client).pipe(upstream)
    })
    sockets.add(upstream.on('error', () => client.destroy()))
    return undefined
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://user:secret@127.0.0.1:${(server.address() as AddressInfo).port}`,
    tunnels,
    authorizations,
    refuse: () => {
      refusing = true
    },
    stall: (isStalled) => {
      stalled = isStalled
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
