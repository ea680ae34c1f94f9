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
  text: string
  /** Undefined where it is no JSON. */
  body: unknown
}

export interface ApiAnswer {
  status: number
  /** As JSON. Absent: an empty body, or `xml`. */
  body?: unknown
  xml?: string
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

/** Undefined where the client went away before its end. */
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

/** The pool's own word for it: whatever is not in gets no requests. */
export function setInPool(server: Server, state: 'in' | 'draining' | 'out'): void {
  server.state = state === 'in' ? 'ready' : state === 'draining' ? 'drain' : 'maint'
}
