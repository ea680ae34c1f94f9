/** A product that is rebuilt from its documentation alone: its admin API, on the pool of a small load balancer. */
import { createServer, type IncomingMessage, type Server as HttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Pool, Server } from '../../../demo/load-balancer/pool.ts'

export interface ApiRequest {
  method: string
  /** The path without the query, each segment decoded. */
  path: string[]
  query: URLSearchParams
  headers: IncomingMessage['headers']
  text: string
  /** The body as JSON. Undefined if it is not JSON. */
  body: unknown
}

export interface ApiAnswer {
  status: number
  /** The body as JSON. Absent: an empty body, or `xml`. */
  body?: unknown
  xml?: string
}

/** A product that is rebuilt from its documentation. The pool has the servers and sends requests to those with state `ready`. */
export interface DocumentedProduct {
  answer(request: ApiRequest): ApiAnswer
  /** The state of the server in the view of the product. */
  stateOf(server: Server): 'in' | 'draining' | 'out'
  /** Sets the state as an operator does. */
  set(server: Server, state: 'in' | 'draining' | 'out'): void
  /** Loses the data that a restart of the product loses. */
  restart(): void
}

export type MakeProduct = (pool: Pool) => DocumentedProduct

/** The body as text. Undefined if the client disconnects before the end. */
async function readText(request: IncomingMessage): Promise<string | undefined> {
  let text = ''
  try {
    for await (const chunk of request.setEncoding('utf8')) text += chunk as string
    return text
  } catch {
    return undefined
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export interface RunningApi {
  url: string
  server: HttpServer
}

export async function serveApi({ answer }: DocumentedProduct): Promise<RunningApi> {
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://api')
    const path = pathname.slice(1).split('/').map(decodeURIComponent)
    const text = await readText(request)
    if (text === undefined) return
    const { method = '', headers } = request
    const { status, body, xml } = answer({ method, path, query: searchParams, headers, text, body: parseJson(text) })
    response.writeHead(status, { 'content-type': xml === undefined ? 'application/json' : 'text/xml' })
    response.end(xml ?? (body === undefined ? '' : JSON.stringify(body)))
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

/** Sets the state of the server in the pool. Only a server with state `in` gets requests. */
export function setInPool(server: Server, state: 'in' | 'draining' | 'out'): void {
  server.state = state === 'in' ? 'ready' : state === 'draining' ? 'drain' : 'maint'
}
