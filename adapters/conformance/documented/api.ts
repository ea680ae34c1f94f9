/** A product of which only the documentation could be had: its admin API, on the pool of a small load balancer. */
import { createServer, type IncomingMessage, type Server as HttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Pool, Server } from '../../../demo/load-balancer/pool.ts'

export interface ApiRequest {
  method: string
  /** Without the query, decoded segment by segment. */
  path: string[]
  query: URLSearchParams
  headers: IncomingMessage['headers']
  /** Undefined where it is no JSON. */
  body: unknown
}

export interface ApiAnswer {
  status: number
  /** Absent: an empty body. */
  body?: unknown
}

/** By its documentation; the pool has the servers, and lets through those whose state is `ready`. */
export interface DocumentedProduct {
  answer(request: ApiRequest): ApiAnswer
  /** How the product itself shows the server. */
  stateOf(server: Server): 'in' | 'draining' | 'out'
  /** By hand. */
  set(server: Server, state: 'in' | 'draining' | 'out'): void
  /** All that a restart forgets. */
  restart(): void
}

export type MakeProduct = (pool: Pool) => DocumentedProduct

async function readJson(request: IncomingMessage): Promise<unknown> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk as string
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
    const body = await readJson(request)
    const said = answer({ method: request.method ?? '', path, query: searchParams, headers: request.headers, body })
    response.writeHead(said.status, { 'content-type': 'application/json' })
    response.end(said.body === undefined ? '' : JSON.stringify(said.body))
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

/** The pool's own word for it: whatever is not in gets no requests. */
export function setInPool(server: Server, state: 'in' | 'draining' | 'out'): void {
  server.state = state === 'in' ? 'ready' : state === 'draining' ? 'drain' : 'maint'
}
