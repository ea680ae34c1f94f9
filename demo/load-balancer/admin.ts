/**
 * The admin side, a small REST API:
 *
 *     GET /servers        {"servers": [{"name", "address", "state", "weight", "inFlight", "healthy"}]}
 *     GET /servers/NAME   one of them
 *     PUT /servers/NAME   {"state"?: "ready" | "drain" | "maint", "weight"?: 0 to 256}: the server as it is then
 *
 * Errors are {"error": "…"}: 400 for a body that is not understood, 403 without the token, 404, 405.
 */
import { createServer, type IncomingMessage, type Server as HttpServer } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import type { Pool, Server, ServerChange } from './pool.ts'

/** One call on the admin API. Calls are in the order of arrival. */
export interface AdminCall {
  method: string
  /** The path as it was sent, encoded. */
  path: string
  headers: IncomingMessage['headers']
  /** Undefined where no body came, or one that is not JSON. */
  body: unknown
  status: number
  /** True where the call changed the server. A repetition does not. */
  changed: boolean
}

export interface AdminOptions {
  /** Where given, a PUT needs `Authorization: Bearer TOKEN`. */
  token?: string | undefined
  record(call: AdminCall): void
}

interface Answer {
  status: number
  body: unknown
  changed?: boolean
}

const LARGEST_BODY_BYTES = 65_536
const HIGHEST_WEIGHT = 256

function refused(status: number, error: string): Answer {
  return { status, body: { error } }
}

/** Returns the change, or the mistake in it. */
function parseChange(body: unknown): ServerChange | string {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return 'the body is no JSON object'
  const { state, weight, ...others } = body as Record<string, unknown>
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return `unknown field ${JSON.stringify(unknown)}`
  const change: ServerChange = {}
  if (state === 'ready' || state === 'drain' || state === 'maint') change.state = state
  else if (state !== undefined) return 'state must be ready, drain or maint'
  if (typeof weight === 'number' && Number.isInteger(weight) && weight >= 0 && weight <= HIGHEST_WEIGHT) change.weight = weight
  else if (weight !== undefined) return `weight must be a whole number from 0 to ${HIGHEST_WEIGHT}`
  return change
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) {
    text += chunk as string
    if (text.length > LARGEST_BODY_BYTES) return undefined
  }
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

export function createAdmin(pool: Pool, { token, record }: AdminOptions): HttpServer {
  function change(server: Server, body: unknown): Answer {
    const wanted = parseChange(body)
    if (typeof wanted === 'string') return refused(400, wanted)
    const before = { ...server }
    Object.assign(server, wanted)
    return { status: 200, body: { ...server }, changed: !isDeepStrictEqual(before, server) }
  }

  function answer({ method, url = '', headers }: IncomingMessage, body: unknown): Answer {
    const [, collection, name, ...rest] = url.split('/')
    if (collection !== 'servers' || rest.length > 0) return refused(404, `there is no ${url}`)
    if (name === undefined) {
      if (method !== 'GET') return refused(405, `${method} is not for all servers`)
      return { status: 200, body: { servers: pool.servers() } }
    }
    if (method !== 'GET' && method !== 'PUT') return refused(405, `${method} is neither GET nor PUT`)
    if (method === 'PUT' && token !== undefined && headers.authorization !== `Bearer ${token}`) {
      return refused(403, 'a change needs the token')
    }
    const server = pool.find(decode(name))
    if (server === undefined) return refused(404, `there is no server ${decode(name)}`)
    return method === 'GET' ? { status: 200, body: { ...server } } : change(server, body)
  }

  return createServer(async (request, response) => {
    const body = await readJson(request).catch(() => undefined)
    const { status, body: said, changed = false } = answer(request, body)
    const { method = '', url: path = '', headers } = request
    record({ method, path, headers, body, status, changed })
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said))
  })
}
