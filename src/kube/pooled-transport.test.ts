import { createServer, type AddressInfo } from 'node:net'
import { Pool } from 'undici'
import { afterAll, afterEach, beforeAll, expect, test as anyTest } from 'vitest'
import type { Credential, Credentials } from './credential.ts'
import { createPooledTransport, type PooledTransportOptions } from './pooled-transport.ts'
import { type ApiServer, answerOk, type ServerOptions, startApiServer } from './testing/api-server.ts'
import { type Certificates, makeCertificates, opensslMissing } from './testing/certificates.ts'
import { startConnectProxy } from './testing/connect-proxy.ts'
import { until } from './testing/until.ts'
import { type Transport, TransportError, type TransportRequest } from './transport.ts'

// oxlint-disable-next-line vitest/expect-expect, vitest/valid-title -- it makes tests, and is none
const test = anyTest.skipIf(opensslMissing)

let certificates: Certificates
const cleanups: (() => Promise<unknown>)[] = []

beforeAll(() => {
  certificates = makeCertificates()
})
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

const GET: TransportRequest = { method: 'GET', path: '/api', headers: {} }
const PATCH: TransportRequest = {
  method: 'PATCH',
  path: '/api',
  headers: { 'content-type': 'application/json-patch+json' },
  body: '[]',
}

function always(credential: Partial<Credential> = {}): Credentials {
  const whole: Credential = { tls: { ca: certificates.ca, rejectUnauthorized: true }, headers: {}, ...credential }
  return { current: async () => whole, accepted: () => {}, refused: () => false, close: () => {} }
}

async function serve(options: ServerOptions = { tls: { certificates } }): Promise<ApiServer> {
  const server = await startApiServer(options)
  cleanups.push(() => server.close())
  return server
}

function transportTo(server: string, options: Partial<PooledTransportOptions> = {}): Transport {
  const transport = createPooledTransport({ server, credentials: always(), ...options })
  cleanups.push(() => transport.close())
  return transport
}

async function failure(promise: Promise<unknown>): Promise<TransportError> {
  const error = await promise.then(
    () => expect.unreachable('it gave an answer'),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(TransportError)
  return error as TransportError
}

test('sends method, path, headers and body, and gives the whole answer', async () => {
  const server = await serve()
  server.handle((_seen, response) => {
    response.writeHead(422, { 'X-Some': 'value', 'Set-Cookie': ['a', 'b'] })
    response.end('{"message":"naïve 漢字 🚦"}')
  })
  const transport = transportTo(`${server.url}/gateway/cluster-1/`, {
    credentials: always({ headers: { authorization: 'Bearer t' } }),
  })
  const answer = await transport.send({ ...PATCH, path: '/api/v1/pods/a?fieldManager=sluice', body: '[{"op":"ü"}]' })
  expect(answer).toMatchObject({
    status: 422,
    headers: { 'x-some': 'value', 'set-cookie': 'a, b' },
    text: '{"message":"naïve 漢字 🚦"}',
  })
  expect(server.seen).toMatchObject([
    {
      method: 'PATCH',
      url: '/gateway/cluster-1/api/v1/pods/a?fieldManager=sluice',
      headers: { authorization: 'Bearer t', 'content-type': 'application/json-patch+json' },
      body: '[{"op":"ü"}]',
    },
  ])
})

test('100 requests at once go over 8 connections, and the next ones over the same', async () => {
  const server = await serve()
  const transport = transportTo(server.url)
  await Promise.all(Array.from({ length: 100 }, () => transport.send(GET)))
  expect(server.seen).toHaveLength(100)
  expect(server.connections()).toBeLessThanOrEqual(8)
  const before = server.connections()
  for (let each = 0; each < 20; each += 1) await transport.send(PATCH)
  expect(server.connections()).toBe(before)

  // Control: without a limit each request has a connection.
  const other = await serve()
  const unlimited = transportTo(other.url, { connections: 1000 })
  await Promise.all(Array.from({ length: 100 }, () => unlimited.send(GET)))
  expect(other.connections()).toBeGreaterThan(8)
})

test('calls that come one right after the other go over one connection', async () => {
  const server = await serve()
  const transport = transportTo(server.url)
  for (let each = 0; each < 10; each += 1) await transport.send(each % 2 === 0 ? GET : PATCH)
  expect(server.connections()).toBe(1)
})

test('open watches take no connection away from calls', async () => {
  const server = await serve()
  server.handle((seen, response) => (seen.url === '/watch' ? response.flushHeaders() : response.end('{}')))
  const transport = transportTo(server.url)
  const reader = new AbortController()
  const watches = Array.from({ length: 20 }, () =>
    failure(transport.stream({ ...GET, path: '/watch', signal: reader.signal }, () => {})),
  )
  await until(() => server.seen.length === 20)
  expect((await transport.send(PATCH)).status).toBe(200)
  reader.abort()
  await Promise.all(watches)
})

test('a Lease is renewed however many calls wait; another call waits behind them', async () => {
  const server = await serve()
  const held: (() => void)[] = []
  server.handle((seen, response) => (seen.url === '/slow' ? held.push(() => response.end('{}')) : response.end('{}')))
  const transport = transportTo(server.url)
  const slow = Array.from({ length: 100 }, () => transport.send({ ...GET, path: '/slow' }))
  await until(() => held.length === 8)
  const lease = '/apis/coordination.k8s.io/v1/namespaces/shop/leases/sluice-statefulset-web'
  expect((await transport.send({ ...GET, method: 'PUT', path: lease, body: '{}' })).status).toBe(200)

  // Control: a call other than a renewal waits.
  let answered = false
  const other = transport.send(PATCH).then(() => (answered = true))
  await transport.send({ ...GET, path: lease })
  expect(answered).toBe(false)
  server.handle(answerOk)
  for (const answer of held) answer()
  await Promise.all([...slow, other])
})

test('a watch gives whole lines wherever chunks end, and resolves when the server ends it', async () => {
  const server = await serve()
  const text = Buffer.from('{"name":"漢字"}\n{"name":"🚦"}\n{"cut":')
  server.handle((_seen, response, socket) => {
    socket.setNoDelay(true)
    let sent = 0
    const sendNext = () => {
      if (sent === text.length) return response.end()
      return response.write(text.subarray(sent, (sent += 1)), () => setImmediate(sendNext))
    }
    sendNext()
  })
  const lines: string[] = []
  const answer = await transportTo(server.url).stream(
    GET,
    (line) => lines.push(line),
    () => lines.push('open'),
  )
  expect(answer).toMatchObject({ status: 200, text: '' })
  expect(lines).toEqual(['open', '{"name":"漢字"}', '{"name":"🚦"}'])
})

test('a refused watch gives its answer and no lines', async () => {
  const server = await serve()
  server.handle((_seen, response) => response.writeHead(410).end('{"reason":"Expired"}\n'))
  const lines: string[] = []
  const note = (line = 'open'): void => void lines.push(line)
  const answer = await transportTo(server.url).stream(GET, note, note)
  expect([answer.status, answer.text, lines]).toEqual([410, '{"reason":"Expired"}\n', []])
})

test('a watch that is cut rejects, with the lines before the cut given', async () => {
  const server = await serve()
  server.handle((_seen, response, socket) => {
    response.write('one\ntwo\nthr', () => socket.destroy())
  })
  const lines: string[] = []
  const error = await failure(transportTo(server.url).stream(GET, (line) => lines.push(line)))
  expect([error.bytesLeft, lines]).toEqual([true, ['one', 'two']])
})

test('an answer that never comes, or is cut, leaves open what happened', async () => {
  for (const cut of ['before', 'within'] as const) {
    const server = await serve()
    server.handle((_seen, response, socket) => {
      if (cut === 'before') return socket.destroy()
      response.writeHead(200, { 'content-length': '100' })
      return response.write('{"half":', () => socket.destroy())
    })
    const error = await failure(transportTo(server.url).send(PATCH))
    expect(error.bytesLeft).toBe(true)
    // The request was sent once, and the code below sends it no second time.
    expect(server.seen).toHaveLength(1)
  }
})

test('what fails before the connection is ready has sent nothing', async () => {
  const closedPort = await freePort()
  const misnamed = await serve({ tls: { certificates, identity: certificates.misnamed } })
  const plain = await serve({})
  const server = await serve()
  const stranger = always({ tls: { rejectUnauthorized: true } })
  const cases: [string, Transport][] = [
    ['refused', transportTo(`https://127.0.0.1:${closedPort}`)],
    ['unknown host', transportTo('https://no-such-host.invalid')],
    ['another name in the certificate', transportTo(misnamed.url)],
    ['an unknown authority', transportTo(server.url, { credentials: stranger })],
    ['no TLS at the other end', transportTo(`https://127.0.0.1:${plain.port}`)],
  ]
  for (const [name, transport] of cases) {
    const error = await failure(transport.send(PATCH))
    expect([name, error.bytesLeft, error.message.length > 0]).toEqual([name, false, true])
  }
  expect([...server.seen, ...misnamed.seen, ...plain.seen]).toEqual([])
})

test('a server that takes the connection and hangs up during the handshake has got nothing', async () => {
  const listener = createServer((socket) => socket.on('error', () => {}).destroy())
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => new Promise((resolve) => listener.close(resolve)))
  const { port } = listener.address() as AddressInfo
  expect((await failure(transportTo(`https://127.0.0.1:${port}`).send(PATCH))).bytesLeft).toBe(false)
})

test('a request that is given up in the queue is never sent, and its connection goes on', async () => {
  const server = await serve()
  const waiting: (() => void)[] = []
  server.handle((_seen, response) => waiting.push(() => response.end('{}')))
  const transport = transportTo(server.url, { connections: 1 })
  const first = transport.send(GET)
  await until(() => waiting.length === 1)
  const caller = new AbortController()
  const queued = failure(transport.send({ ...PATCH, signal: caller.signal }))
  const third = transport.send({ ...GET, path: '/third' })
  // One turn is enough for both requests to be queued.
  await new Promise((resolve) => setImmediate(resolve))
  caller.abort()
  expect((await queued).bytesLeft).toBe(false)
  waiting[0]?.()
  await first
  await until(() => waiting.length === 2)
  waiting[1]?.()
  await third
  expect(server.seen.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /api', 'GET /third'])
  expect(server.connections()).toBe(1)
})

test('what beforeSend throws once the connection is made ends the request unsent, and the connection goes on', async () => {
  const server = await serve()
  const transport = transportTo(server.url, { connections: 1 })
  const opened: number[] = []
  const beforeSend = (): void => {
    opened.push(server.connections())
    throw new Error('another process owns this')
  }
  const error = await failure(transport.send({ ...PATCH, beforeSend }))
  expect([error.bytesLeft, error.message]).toEqual([false, 'another process owns this'])
  await transport.send({ ...GET, beforeSend: () => opened.push(server.connections()) })
  expect([opened, server.seen.map(({ method }) => method)]).toEqual([[1, 1], ['GET']])
})

test('a request that is given up under way may have been seen, and its late answer is nobody else’s', async () => {
  const server = await serve()
  let answerLate = () => {}
  server.handle((seen, response) => {
    if (seen.method === 'PATCH') answerLate = () => response.end('{"late":true}')
    else response.end('{"own":true}')
  })
  const transport = transportTo(server.url, { connections: 1 })
  const caller = new AbortController()
  const patched = failure(transport.send({ ...PATCH, signal: caller.signal }))
  await until(() => server.seen.length === 1)
  caller.abort()
  expect((await patched).bytesLeft).toBe(true)
  // The connection of the aborted request is gone, so it blocks no other request.
  expect((await transport.send(GET)).text).toBe('{"own":true}')
  answerLate()
  expect((await transport.send(GET)).text).toBe('{"own":true}')
})

test('a write on a kept connection that the server closes meanwhile is never sent twice', async () => {
  const server = await serve()
  const transport = transportTo(server.url, { connections: 1 })
  for (let round = 1; round <= 20; round += 1) {
    server.handle(answerOk)
    await transport.send(GET)
    // The next request on this connection is read and dropped, as if it crossed the server's close.
    server.handle((_seen, _response, socket) => socket.destroy())
    const before = server.seen.length
    expect((await failure(transport.send(PATCH))).bytesLeft).toBe(true)
    expect(server.seen.length - before).toBe(1)
  }
})

test('the client certificate is shown, and a renewed one makes new connections', async () => {
  const server = await serve()
  let identity = certificates.client
  const credentials: Credentials = {
    ...always(),
    current: async () => ({ tls: { ca: certificates.ca, rejectUnauthorized: true, ...identity }, headers: {} }),
  }
  const transport = transportTo(server.url, { credentials })
  await transport.send(GET)
  await transport.send(GET)
  identity = certificates.renewed
  await transport.send(GET)
  expect(server.seen.map(({ commonName }) => commonName)).toEqual(['alice', 'alice', 'alice-renewed'])
  // The connections of the old certificate are closed as soon as they are idle.
  await until(() => server.open() === 1)
})

test('the name to verify can be another than that of the address', async () => {
  const server = await serve({ tls: { certificates, identity: certificates.misnamed } })
  const credentials = always({ tls: { ca: certificates.ca, rejectUnauthorized: true, servername: 'api.internal' } })
  expect((await transportTo(server.url, { credentials }).send(GET)).status).toBe(200)
  expect(server.seen[0]?.servername).toBe('api.internal')
})

test('a server that is not verified is only reached where that was asked for', async () => {
  const server = await serve()
  const credentials = always({ tls: { rejectUnauthorized: false } })
  expect((await transportTo(server.url, { credentials }).send(GET)).status).toBe(200)
})

test('speaks HTTP/1.1 to a server that offers HTTP/2', async () => {
  const { createSecureServer } = await import('node:http2')
  const versions: string[] = []
  const server = createSecureServer({ ...certificates.server, allowHTTP1: true }, (request, response) => {
    versions.push(request.httpVersion)
    response.end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => new Promise((resolve) => server.close(resolve)))
  const transport = transportTo(`https://localhost:${(server.address() as AddressInfo).port}`)
  await transport.send(GET)
  await transport.close()
  // Control: undici alone would use the protocol that the server offers.
  const byItself = new Pool(`https://localhost:${(server.address() as AddressInfo).port}`, { connect: { ca: certificates.ca } })
  await (await byItself.request({ method: 'GET', path: '/' })).body.text()
  await byItself.close()
  expect(versions).toEqual(['1.1', '2.0'])
})

test('goes through the proxy of the cluster, for calls and watches', async () => {
  const server = await serve()
  const proxy = await startConnectProxy()
  cleanups.push(() => proxy.close())
  const transport = transportTo(server.url, { proxyUrl: proxy.url })
  await Promise.all(Array.from({ length: 50 }, () => transport.send(PATCH)))
  server.handle((_seen, response) => response.end('line\n'))
  const lines: string[] = []
  await transport.stream(GET, (line) => lines.push(line))
  expect(lines).toEqual(['line'])
  expect(server.seen).toHaveLength(51)
  expect(new Set(proxy.tunnels)).toEqual(new Set([`127.0.0.1:${server.port}`]))
  expect(proxy.tunnels.length).toBeLessThanOrEqual(9)
  expect(proxy.authorizations[0]).toBe(`Basic ${Buffer.from('user:secret').toString('base64')}`)
})

test('a proxy that refuses the tunnel, or is not there, has passed nothing on', async () => {
  const server = await serve()
  const proxy = await startConnectProxy()
  cleanups.push(() => proxy.close())
  proxy.refuse()
  for (const proxyUrl of [proxy.url, `http://user:secret@127.0.0.1:${await freePort()}`]) {
    const error = await failure(transportTo(server.url, { proxyUrl }).send(PATCH))
    expect(error.bytesLeft).toBe(false)
    expect(error.message).not.toContain('secret')
  }
  expect(server.seen).toEqual([])
})

test('a proxy that has said nothing for a while holds no connection once it speaks again', async ({ signal }) => {
  const server = await serve()
  const proxy = await startConnectProxy()
  cleanups.push(() => proxy.close())
  proxy.stall(true)
  const transport = transportTo(server.url, { proxyUrl: proxy.url })
  const renewal = { ...PATCH, path: '/apis/coordination.k8s.io/v1/namespaces/default/leases/web' }
  const renew = (): Promise<unknown> =>
    transport.send({ ...renewal, signal: AbortSignal.timeout(500) }).catch((error: unknown) => error)
  // One renewal for each connection for Leases.
  await renew()
  await renew()
  expect(proxy.tunnels).toHaveLength(2)
  proxy.stall(false)
  let answer: unknown
  do answer = await renew()
  while (answer instanceof Error && !signal.aborted)
  expect(answer).toMatchObject({ status: 200 })
  expect(server.seen.length).toBeGreaterThan(0)
})

test('401 makes it ask for other credentials once, and send the request at most twice', async () => {
  const server = await serve()
  server.handle((_seen, response) => response.writeHead(401).end('{}'))
  const transport = transportTo(server.url, { credentials: { ...always(), refused: () => true } })
  expect((await transport.send(PATCH)).status).toBe(401)
  expect(server.seen).toHaveLength(2)
  expect((await transport.stream(GET, () => {})).status).toBe(401)
  expect(server.seen).toHaveLength(4)
})

test('a closed transport ends what is open, and sends nothing more', async () => {
  const server = await serve()
  server.handle((_seen, response) => response.flushHeaders())
  const transport = transportTo(server.url)
  const watch = failure(transport.stream(GET, () => {}))
  const call = failure(transport.send(PATCH))
  await until(() => server.seen.length === 2)
  await transport.close()
  expect([(await watch).bytesLeft, (await call).bytesLeft]).toEqual([true, true])
  expect((await failure(transport.send(PATCH))).bytesLeft).toBe(false)
  await until(() => server.open() === 0)
  expect(server.seen).toHaveLength(2)
})

async function freePort(): Promise<number> {
  const listener = createServer()
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const { port } = listener.address() as AddressInfo
  await new Promise((resolve) => listener.close(resolve))
  return port
}

afterAll(() => {
  expect(cleanups).toEqual([])
})
