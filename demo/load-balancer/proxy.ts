/** The traffic side: passes requests on to the next server, and counts them. */
import { Agent, createServer, request, type IncomingMessage, type Server as HttpServer, type ServerResponse } from 'node:http'
import type { Pool, Server } from './pool.ts'

/** Headers that belong to one connection, and not to the request. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'])

function endToEnd(headers: string[]): string[] {
  const kept: string[] = []
  for (let at = 0; at < headers.length; at += 2) {
    const [name, value] = headers.slice(at, at + 2) as [string, string]
    if (!HOP_BY_HOP.has(name.toLowerCase())) kept.push(name, value)
  }
  return kept
}

function refuse(response: ServerResponse, status: number, reason: string): void {
  if (response.headersSent) response.destroy()
  else response.writeHead(status, { 'content-type': 'text/plain' }).end(`${reason}\n`)
}

/**
 * Answers 503 where no server can be chosen, and 502 where the chosen server does not answer. No request is tried twice. `x-server`
 * names the chosen server.
 */
export function createProxy(pool: Pool): HttpServer {
  // The agent of Node drops a kept connection before the timeout that the server announces, so that no connection breaks under a request.
  const agent = new Agent({ keepAlive: true })

  function pass(client: IncomingMessage, response: ServerResponse, server: Server): void {
    server.inFlight += 1
    response.setHeader('x-server', server.name)
    response.once('close', () => {
      server.inFlight -= 1
      upstream.destroy()
    })
    const { hostname, port } = new URL(`http://${server.address}`)
    const upstream = request({
      agent,
      // An IPv6 address has no brackets outside a URL.
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? 80 : port,
      method: client.method,
      path: client.url,
      headers: endToEnd(client.rawHeaders),
    })
    upstream.once('response', (answer) => {
      response.writeHead(answer.statusCode!, endToEnd(answer.rawHeaders))
      answer.on('error', () => response.destroy())
      answer.pipe(response)
    })
    upstream.on('error', ({ message }) => refuse(response, 502, `${server.name}: ${message}`))
    client.pipe(upstream)
  }

  const proxy = createServer((client, response) => {
    const server = pool.next()
    if (server === undefined) refuse(response, 503, 'no server is in rotation')
    else pass(client, response, server)
  })
  proxy.once('close', () => agent.destroy())
  return proxy
}
