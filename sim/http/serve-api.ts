import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '../../src/ports/clock.ts'
import { refusal, Refusal } from '../api-server/refusal.ts'
import type { ApiAnswer, ApiRequest, ApiServer } from '../api-server/server.ts'
import { fixedAnswer, OPEN_TO_ALL } from './fixed-answers.ts'
import { jsonOf, PROTOBUF } from './protobuf.ts'
import { refuseWhatIsNotThere } from './not-there.ts'
import { scaleAnswer } from './scale.ts'
import { tableAnswer, tableLines, wantsTable } from './tables.ts'

export interface ServeApiOptions {
  apiServer: ApiServer
  clock: Clock
  /** Names each client by the name that it gives itself. Otherwise all clients have one name. */
  namesClients?: boolean
  /** The port on 127.0.0.1; a free port unless given. */
  port?: number
}

export interface ServedApi {
  /**
   * The address for clients: `http://127.0.0.1:PORT/SECRET`. There is no TLS, and without TLS clients send no token. The secret path
   * permits everything; other users of the machine do not know it.
   */
  url: string
  /** Stops the server, and cuts open requests. */
  close(): Promise<void>
}

const BY = 'kubernetes-admin'
const METHODS = new Set<string | undefined>(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] satisfies ApiRequest['method'][])
/** A real API server accepts 3 MiB, and refuses larger bodies itself. This limit only protects the memory. */
const LARGEST_BODY = 4 * 1024 * 1024
/** The interval of bookmarks of a real API server. A client takes a watch for dead after a longer silence. */
const BOOKMARK_MS = 60_000

/** Serves an API server over HTTP, as far as sluice and kubectl need one. @throws Error where the port is taken */
export async function serveApi({ apiServer, clock, namesClients = false, port = 0 }: ServeApiOptions): Promise<ServedApi> {
  const prefix = `/${randomBytes(16).toString('hex')}`
  const server = createServer((incoming, response) => {
    serve(incoming, response).catch((error: unknown) => send(response, answerOf(error)))
  })

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(incoming, prefix)
    if (isWatch(request)) watch(request, response)
    else send(response, answer(request))
  }

  function answer(request: ApiRequest): ApiAnswer {
    const handle = (one: ApiRequest): ApiAnswer => apiServer.handle(one, namesClients ? clientOf(request) : BY)
    const known = fixedAnswer(request) ?? scaleAnswer(request, handle)
    if (known !== undefined) return known
    refuseWhatIsNotThere(request)
    const plain = handle(request)
    return wantsTable(request) ? tableAnswer(request, plain, clock.wallNow()) : plain
  }

  function watch(request: ApiRequest, response: ServerResponse): void {
    const shown = wantsTable(request) ? tableLines(request, () => clock.wallNow()) : (line: string) => line
    let begun = false
    const begin = (): void => {
      if (begun) return
      begun = true
      response.writeHead(200, { 'content-type': 'application/json' })
      response.flushHeaders()
    }
    const sink = {
      line(text: string) {
        begin()
        response.write(`${shown(text)}\n`)
      },
      end() {
        begin()
        response.end()
      },
    }
    const watching = apiServer.watch(request, sink, BY)
    if (watching.kind === 'refused') {
      send(response, watching.answer)
      return
    }
    begin()
    response.once('close', () => watching.close())
  }

  let timer: unknown
  function bookmarkLater(): void {
    timer = clock.setTimeout(() => {
      apiServer.bookmark()
      bookmarkLater()
    }, BOOKMARK_MS)
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  // Clients keep connections for any time. A connection that closes under a write makes the result of the write ambiguous.
  server.keepAliveTimeout = 0
  bookmarkLater()
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`,
    async close() {
      clock.clearTimeout(timer)
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

/** Reads a request. @throws Refusal 403, 405, 413 */
async function readRequest(incoming: IncomingMessage, prefix: string): Promise<ApiRequest> {
  const { method, url = '' } = incoming
  if (!METHODS.has(method)) throw refusal(405, 'MethodNotAllowed', `this server has no ${method}`)
  const body = await readBody(incoming)
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  )
  const request = {
    method: method as ApiRequest['method'],
    path: OPEN_TO_ALL.has(url) ? url : withoutPrefix(url, prefix),
    headers,
  }
  if (body.length === 0) return request
  if (headers['content-type'] !== PROTOBUF) return { ...request, body: body.toString('utf8') }
  return { ...request, headers: { ...headers, 'content-type': 'application/json' }, body: jsonOf(body) }
}

function withoutPrefix(url: string, prefix: string): string {
  if (url.startsWith(`${prefix}/`)) return url.slice(prefix.length)
  throw refusal(403, 'Forbidden', 'the address of this server has a secret path, which its kubeconfig has')
}

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > LARGEST_BODY) throw refusal(413, 'RequestEntityTooLarge', 'Request entity too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Returns the name of the field manager, as the API server does: the parameter, or the beginning of the User-Agent. */
function clientOf({ path, headers }: ApiRequest): string {
  const given = new URLSearchParams(path.split('?')[1]).get('fieldManager')
  return given ?? headers['user-agent']?.split('/', 1)[0] ?? BY
}

function isWatch({ method, path }: ApiRequest): boolean {
  return method === 'GET' && /[?&]watch=(1|true)(&|$)/.test(path)
}

function answerOf(error: unknown): ApiAnswer {
  if (error instanceof Refusal) return error.answer
  return refusal(500, 'InternalError', `the embedded API server has failed: ${String(error)}`).answer
}

function send(response: ServerResponse, { status, headers, text }: ApiAnswer): void {
  // A closed connection, or an answer that has begun, cannot take another answer.
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) })
  response.end(text)
}
