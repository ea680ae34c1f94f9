import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer } from 'node:net'
import { inspect } from 'node:util'
import axios from 'axios'
import { afterEach, expect, test, vi } from 'vitest'
import { AdapterError, type Call } from '../contract.ts'
import { type Client, createClient } from './client.ts'
import type { HttpRequest } from './http-request.ts'

const SECRET = 'swordfish-4711'
const call: Call = { deadlineMs: 20_000, assertLive: () => {} }
const cleanups: (() => unknown)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
  vi.unstubAllEnvs()
})

async function listen(server: Server | TcpServer): Promise<string> {
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  cleanups.push(() => {
    server.close()
    if ('closeAllConnections' in server) server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  return listen(createServer(answer))
}

/** A client with kept connections, as for options with `inspect`. */
function clientOf(url: string): Client {
  const client = createClient('http edge', { url, keepAlive: true })
  cleanups.push(() => client.close())
  return client
}

function requestTo(over: Partial<HttpRequest> = {}): HttpRequest {
  const headers = { Authorization: `Bearer ${SECRET}` }
  return {
    method: 'PUT',
    path: '/servers/a',
    headers,
    body: '{"state":"drain"}',
    expect: undefined,
    secrets: [SECRET],
    ...over,
  }
}

/** The error of a call. Fails if any part of the error contains the secret. */
async function failureOf(
  url: string,
  options: { isWrite: boolean; call?: Call; request?: Partial<HttpRequest> } = { isWrite: true },
): Promise<AdapterError> {
  const sent = clientOf(url).send(requestTo(options.request), options.call ?? call, options)
  const error = await sent.then(
    ({ status }) => new Error(`answered ${status}`),
    (reason: unknown) => reason,
  )
  if (!(error instanceof AdapterError)) throw error
  expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain(SECRET)
  return error
}

test.each<[number, Record<string, string>, string, string]>([
  [400, {}, 'fatal', 'fatal'],
  [401, {}, 'fatal', 'fatal'],
  [403, {}, 'fatal', 'fatal'],
  // The body is that of a gateway without a route. An API answers in JSON.
  [404, {}, 'retryable', 'retryable'],
  [410, {}, 'retryable', 'retryable'],
  [404, { 'content-type': 'application/problem+json' }, 'not-found', 'not-found'],
  [410, { 'content-type': 'application/json' }, 'not-found', 'not-found'],
  // A proxy sends 408 for a request that it has started to forward.
  [408, {}, 'ambiguous', 'retryable'],
  [425, {}, 'retryable', 'retryable'],
  [409, {}, 'conflict', 'conflict'],
  [412, {}, 'conflict', 'conflict'],
  [429, {}, 'throttled', 'throttled'],
  // An API may send a redirect after it has made the change.
  [302, { location: '/login' }, 'ambiguous', 'fatal'],
  [303, { location: '/servers/a' }, 'ambiguous', 'fatal'],
  [500, {}, 'ambiguous', 'retryable'],
  [502, {}, 'ambiguous', 'retryable'],
  [503, {}, 'ambiguous', 'retryable'],
  // A proxy may send 503 for a request that it has forwarded.
  [503, { 'retry-after': '7' }, 'ambiguous', 'throttled'],
  [504, {}, 'ambiguous', 'retryable'],
])('%d with %j is %s for a write, %s for a read', async (status, headers, forWrite, forRead) => {
  let requests = 0
  const url = await serve((_request, response) => {
    requests += 1
    response.writeHead(status, headers).end(`no: ${SECRET}\u001b[31m`)
  })
  const error = await failureOf(url, { isWrite: true })
  expect(error.kind).toBe(forWrite)
  expect(error.message).toContain(`http edge: PUT ${url}/servers/a answered ${status}`)
  expect(error.message).toContain('no: ***')
  expect(error.message).not.toContain('\u001b')
  expect((await failureOf(url, { isWrite: false })).kind).toBe(forRead)
  expect(requests).toBe(2)
})

test.each([
  ['JSON', JSON.stringify],
  ['JSON of Go', (text: string) => JSON.stringify(text).replaceAll('&', '\\u0026').replaceAll('<', '\\u003c')],
  ['JSON of PHP', (text: string) => JSON.stringify(text).replaceAll('/', '\\/')],
  ['a URL', encodeURIComponent],
  ['HTML', (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&#34;')],
  ['HTML of PHP', (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll("'", '&#039;')],
  ['HTML in hexadecimal', (text: string) => text.replaceAll('&', '&#x0026;').replaceAll("'", '&#X0027;')],
])('a secret is not shown as %s writes it', async (_what, write) => {
  const secret = `sword/f+sh=&<4711'"\\`
  const url = await serve((_request, response) => void response.writeHead(400).end(`${write(secret)}!`))
  const { message } = await failureOf(url, { isWrite: true, request: { secrets: ['sword', secret] } })
  expect(message).toMatch(/answered 400 \("?\*\*\*"?!\)$/)
})

test('Retry-After is told, in seconds and as a date', async () => {
  let value = '7'
  let status = 503
  const url = await serve((_request, response) => void response.writeHead(status, { 'retry-after': value }).end())
  expect((await failureOf(url)).retryAfterMs).toBe(7000)
  status = 429
  expect((await failureOf(url)).retryAfterMs).toBe(7000)
  value = new Date(Date.now() + 60_000).toUTCString()
  expect((await failureOf(url)).retryAfterMs).toBeGreaterThan(30_000)
  value = 'soon'
  expect((await failureOf(url)).retryAfterMs).toBeUndefined()
})

test('answers come as they are: nothing is asked for that would have to be unpacked', async () => {
  const url = await serve(({ headers }, response) => void response.end(JSON.stringify(headers['accept-encoding'])))
  expect((await clientOf(url).send(requestTo(), call, { isWrite: false })).text).toBe('"identity"')
})

test('a status that is not expected is no success', async () => {
  const url = await serve((_request, response) => void response.writeHead(202).end())
  expect((await failureOf(url, { isWrite: true, request: { expect: [200] } })).kind).toBe('ambiguous')
  expect((await failureOf(url, { isWrite: false, request: { expect: [200] } })).kind).toBe('fatal')
  expect((await clientOf(url).send(requestTo({ expect: [202] }), call, { isWrite: true })).status).toBe(202)
})

test('nobody listens: retryable', async () => {
  const server = createServer()
  const url = await listen(server)
  server.close()
  const error = await failureOf(url)
  expect([error.kind, error.message]).toEqual([
    'retryable',
    `http edge: PUT ${url}/servers/a: nobody listens there (ECONNREFUSED)`,
  ])
})

test('no answer in time: ambiguous for a write, retryable for a read', async () => {
  const url = await serve(() => {})
  const short = { ...call, deadlineMs: 50 }
  const error = await failureOf(url, { isWrite: true, call: short })
  expect([error.kind, error.message]).toEqual(['ambiguous', `http edge: PUT ${url}/servers/a: no whole answer in time`])
  expect((await failureOf(url, { isWrite: false, call: short })).kind).toBe('retryable')
  expect((await failureOf(url, { isWrite: true, call: { ...call, deadlineMs: 0 } })).kind).toBe('retryable')
})

test('an answer that breaks off: ambiguous for a write', async () => {
  const url = await serve((_request, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('{"half')
    setTimeout(() => response.destroy(), 10)
  })
  expect(await failureOf(url, { isWrite: true })).toMatchObject({
    kind: 'ambiguous',
    message: expect.stringContaining('the answer broke off'),
  })
  expect((await failureOf(url, { isWrite: false })).kind).toBe('retryable')
})

test('what is no HTTP: ambiguous for a write', async () => {
  const url = await listen(createTcpServer((socket) => void socket.end('SSH-2.0-x\r\n')))
  expect((await failureOf(url, { isWrite: true })).kind).toBe('ambiguous')
})

test('an answer that is too large is cut', async () => {
  const url = await serve((_request, response) => {
    const chunk = Buffer.alloc(1 << 20)
    response.on('error', () => {})
    const more = (): void => {
      while (!response.destroyed && response.write(chunk));
      response.once('drain', more)
    }
    more()
  })
  const error = await failureOf(url, { isWrite: false })
  expect([error.kind, error.message]).toEqual(['fatal', expect.stringContaining('the answer is larger than 16777216 bytes')])
  expect((await failureOf(url, { isWrite: true })).kind).toBe('ambiguous')
})

test('redirects are not followed, and say where they lead', async () => {
  const paths: string[] = []
  const url = await serve(({ url: path }, response) => {
    paths.push(path!)
    response.writeHead(307, { location: '/elsewhere' }).end()
  })
  expect((await failureOf(url)).message).toContain('redirects are not followed; name /elsewhere')
  expect(paths).toEqual(['/servers/a'])
})

test('a proxy of the environment is ignored', async () => {
  let proxied = 0
  const proxy = await serve((_request, response) => {
    proxied += 1
    response.end()
  })
  for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy']) vi.stubEnv(name, proxy)
  for (const name of ['NO_PROXY', 'no_proxy']) vi.stubEnv(name, undefined)
  const url = await serve((_request, response) => void response.end('{}'))
  expect((await clientOf(url).send(requestTo(), call, { isWrite: true })).text).toBe('{}')
  expect(proxied).toBe(0)
})

test('one connection serves call after call; ownership is asked on it each time, right before the bytes', async () => {
  let connections = 0
  const received: string[] = []
  const server = createServer((request, response) => {
    received.push(`${request.method} ${request.headers['content-type']}`)
    response.end('{}')
  })
  server.on('connection', () => (connections += 1))
  const url = await listen(server)
  const client = clientOf(url)
  await client.send(requestTo(), call, { isWrite: true })
  await client.send(requestTo(), call, { isWrite: true })
  expect([connections, received.length]).toEqual([1, 2])
  const lost = new Error('another process owns this run')
  const assertLive = (): void => {
    throw lost
  }
  // The first request uses a kept connection, the second one a new connection.
  await expect(client.send(requestTo(), { ...call, assertLive }, { isWrite: true })).rejects.toBe(lost)
  await expect(client.send(requestTo(), { ...call, assertLive }, { isWrite: true })).rejects.toBe(lost)
  await client.send(requestTo(), call, { isWrite: true })
  expect(received.length).toBe(3)
})

test('ownership is not asked for a connection that does not stand', async () => {
  const asked = vi.fn<() => void>()
  const short = { deadlineMs: 100, assertLive: asked }
  const gone = createServer()
  const url = await listen(gone)
  gone.close()
  expect((await failureOf(url, { isWrite: true, call: short })).kind).toBe('retryable')
  // The server accepts the connection and never answers the handshake.
  const mute = (await listen(createTcpServer(() => {}))).replace('http:', 'https:')
  const error = await failureOf(mute, { isWrite: true, call: short })
  expect([error.kind, error.message]).toEqual(['retryable', `http edge: PUT ${mute}/servers/a: no connection in time`])
  expect(asked).not.toHaveBeenCalled()
})

test.each([
  { of: 'an alert of TLS', answer: Buffer.from([0x15, 3, 1, 0, 2, 2, 70]), says: 'it speaks TLS; write https in url' },
  { of: 'nothing', answer: Buffer.alloc(0), says: 'does it speak TLS? is it https in url?' },
  ...[
    '<center>The plain HTTP request was sent to HTTPS port</center>',
    'Client sent an HTTP request to an HTTPS server.',
    "Reason: You're speaking plain HTTP to an SSL-enabled server port.",
  ].map((text) => ({
    of: text,
    answer: Buffer.from(`HTTP/1.1 400 Bad Request\r\ncontent-length: ${text.length}\r\n\r\n${text}`),
    says: 'answered 400: it speaks TLS; write https in url',
  })),
])('http in url where the port is one of TLS, which answers with $of', async ({ answer, says }) => {
  const url = await listen(createTcpServer((socket) => socket.once('data', () => socket.end(answer))))
  expect((await failureOf(url, { isWrite: false })).message).toContain(says)
})

test('https in url where the port is a plain one: it answers, or hangs up', async () => {
  const secure = async (url: string) => (await failureOf(url.replace('http:', 'https:'), { isWrite: false })).message
  expect(await secure(await serve((_request, response) => void response.end()))).toMatch(
    /does not speak TLS \(.*\); write http in url/,
  )
  const mute = await listen(createTcpServer((socket) => socket.once('data', () => socket.end())))
  expect(await secure(mute)).toContain('does it speak TLS? is it http in url?')
})

test('a connection that ends where there have been answers is no question of TLS', async () => {
  let requests = 0
  const url = await serve((request, response) => {
    requests += 1
    if (requests === 1) response.end('{}')
    else request.socket.destroy()
  })
  const client = clientOf(url)
  await client.send(requestTo(), call, { isWrite: false })
  await expect(client.send(requestTo(), call, { isWrite: false })).rejects.toThrow(/^(?!.*TLS)/)
})

test('control: the error of axios itself does have the headers', async () => {
  const server = createServer()
  const url = await listen(server)
  server.close()
  const error: unknown = await axios.get(url, { headers: { Authorization: SECRET } }).catch((reason: unknown) => reason)
  expect(inspect(error, { depth: Infinity, showHidden: true })).toContain(SECRET)
})

test('more calls than connections wait for one; close ends them all', async () => {
  let requests = 0
  const url = await serve(() => {
    requests += 1
  })
  const client = clientOf(url)
  const calls = Array.from({ length: 15 }, () => client.send(requestTo(), call, { isWrite: true }))
  await expect.poll(() => requests).toBe(10)
  client.close()
  const kinds = (await Promise.allSettled(calls)).map((settled) =>
    settled.status === 'rejected' ? (settled.reason as AdapterError).kind : settled.status,
  )
  expect(kinds.filter((kind) => kind === 'ambiguous').length).toBe(10)
  expect(kinds.filter((kind) => kind === 'retryable').length).toBe(5)
  await expect(client.send(requestTo(), call, { isWrite: true })).rejects.toMatchObject({ kind: 'retryable' })
})

test('a file of tls that is missing is fatal', async () => {
  const client = createClient('http edge', { url: 'https://127.0.0.1:1', tls: { ca: '/no/such/ca.pem' } })
  cleanups.push(() => client.close())
  await expect(client.send(requestTo(), call, { isWrite: false })).rejects.toMatchObject({
    kind: 'fatal',
    message: expect.stringContaining('/no/such/ca.pem'),
  })
})
