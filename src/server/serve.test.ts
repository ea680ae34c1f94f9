import { Agent } from 'node:http'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import type { Hono } from 'hono'
import type { NotReady } from './create-app.ts'
import { serve, type Served, type ServeOptions } from './serve.ts'
import { ask, connectRaw } from './testing/ask.ts'

const open: Served[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close({ graceMs: 0 })
})

async function start(options: Partial<ServeOptions> = {}): Promise<Served> {
  const served = await serve({ listen: '127.0.0.1:0', notReady: () => [], ...options })
  open.push(served)
  return served
}

/** A handler whose answer waits until the test calls `open`. */
function gate() {
  let begun!: () => void
  let let_through!: () => void
  const reached = new Promise<void>((resolve) => {
    begun = resolve
  })
  const opened = new Promise<void>((resolve) => {
    let_through = resolve
  })
  const routes = (app: Hono): void => {
    app.get('/slow', async (context) => {
      begun()
      await opened
      return context.text('done')
    })
  }
  return { routes, reached, open: let_through }
}

test('it is alive, and ready as soon as nothing speaks against it', async () => {
  let because: NotReady[] = [{ code: 'cluster-not-read', cluster: 'eu' } as NotReady]
  const { url } = await start({ notReady: () => because })
  expect(await ask(`${url}/livez`)).toMatchObject({ status: 200, body: 'ok' })
  const before = await ask(`${url}/readyz`)
  expect(before.status).toBe(503)
  expect(JSON.parse(before.body)).toEqual({ ready: false, because: [{ code: 'cluster-not-read', cluster: 'eu' }] })
  because = []
  const after = await ask(`${url}/readyz`)
  expect([after.status, JSON.parse(after.body)]).toEqual([200, { ready: true, because: [] }])
})

test('it says where it listens: the free port, and localhost for all addresses', async () => {
  const served = await start()
  expect(served.url).toBe(`http://127.0.0.1:${served.port}`)
  expect(served.port).toBeGreaterThan(0)
  expect((await ask(`${served.url}/livez`)).status).toBe(200)
  const all = await start({ listen: ':0' })
  expect(all.url).toBe(`http://localhost:${all.port}`)
  expect((await ask(`http://127.0.0.1:${all.port}/livez`)).status).toBe(200)
})

const hasIPv6 = Object.values(networkInterfaces()).some((some) => some?.some(({ address }) => address === '::1'))
test.skipIf(!hasIPv6)('an address of IPv6 is in brackets', async () => {
  const { url, host, port } = await start({ listen: '[::1]:0' })
  expect([url, host]).toEqual([`http://[::1]:${port}`, '::1'])
  expect((await ask(`${url}/livez`)).status).toBe(200)
})

test('metrics that cannot be made are 500, and the server goes on', async () => {
  const failing = { contentType: 'text/plain', text: () => Promise.reject(new Error('no numbers')) }
  const { url } = await start({ metrics: failing })
  expect((await ask(`${url}/metrics`)).status).toBe(500)
  expect((await ask(`${url}/livez`)).status).toBe(200)
})

test('what it does not have is 404, and metrics too where there are none; HEAD is answered without a body', async () => {
  const { url } = await start()
  expect(await ask(`${url}/metrics`)).toMatchObject({ status: 404, body: '{"code":"not-found"}' })
  expect(await ask(`${url}/livez`, { method: 'POST' })).toMatchObject({ status: 404 })
  expect(await ask(`${url}/livez`, { method: 'HEAD' })).toMatchObject({ status: 200, body: '' })
})

test('a handler that throws is told to the log, and the client learns nothing of it', async () => {
  const events: unknown[] = []
  const { url } = await start({
    routes: (app) =>
      app.get('/broken', () => {
        throw new Error('the secret of the house')
      }),
    onEvent: (event) => events.push(event),
  })
  expect(await ask(`${url}/broken`)).toMatchObject({ status: 500, body: '{"code":"internal-error"}' })
  expect(events).toEqual([{ type: 'requestFailed', path: '/broken', error: new Error('the secret of the house') }])
})

test.each([
  { listen: '9464', code: 'listen-address-invalid' },
  { listen: 'localhost', code: 'listen-address-invalid' },
  { listen: '::1:80', code: 'listen-address-invalid' },
  { listen: '127.0.0.1:65536', code: 'listen-address-invalid' },
  { listen: '203.0.113.7:0', code: 'address-not-here' },
])('it does not listen on $listen: $code', async ({ listen, code }) => {
  const error = await start({ listen }).catch((reason: unknown) => reason)
  expect(error).toMatchObject({ name: 'ServerError', component: 'server', problem: { code, listen } })
  expect((error as Error).message).toContain(listen)
})

test('a port that another program has is named', async () => {
  const other = createServer()
  await new Promise<void>((resolve) => {
    other.listen(0, '127.0.0.1', resolve)
  })
  const listen = `127.0.0.1:${(other.address() as { port: number }).port}`
  try {
    await expect(start({ listen })).rejects.toMatchObject({
      problem: { code: 'address-in-use', listen },
      cause: { code: 'EADDRINUSE' },
    })
  } finally {
    other.close()
  }
})

const echo = (app: Hono): void => {
  app.post('/echo', async (context) => context.text(String((await context.req.text()).length)))
}

test.each([{ chunked: false }, { chunked: true }])('bodies are bounded, chunked: $chunked', async ({ chunked }) => {
  const { url } = await start({ routes: echo, limits: { largestBodyBytes: 1000 } })
  const headers: Record<string, string> = chunked ? { 'transfer-encoding': 'chunked' } : {}
  expect(await ask(`${url}/echo`, { method: 'POST', body: 'x'.repeat(1000), headers })).toMatchObject({
    status: 200,
    body: '1000',
  })
  expect(await ask(`${url}/echo`, { method: 'POST', body: 'x'.repeat(1001), headers })).toMatchObject({
    status: 413,
    body: '{"code":"body-too-large"}',
  })
  expect((await ask(`${url}/livez`)).status).toBe(200)
})

test('headers are bounded', async () => {
  const { url } = await start({ limits: { largestHeaderBytes: 1000 } })
  expect((await ask(`${url}/livez`, { headers: { 'x-long': 'x'.repeat(1001) } })).status).toBe(431)
})

test.each([
  { what: 'says nothing', sent: '', status: '408' },
  { what: 'does not end its headers', sent: 'GET /livez HTTP/1.1\r\nhost: a\r\n', status: '408' },
  { what: 'does not end its body', sent: 'POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nabc', status: '408' },
])('a client that $what is cut', async ({ sent, status }) => {
  const { port } = await start({ routes: echo, limits: { headersMs: 200, requestMs: 400 } })
  const { socket, received, gone } = await connectRaw(port)
  socket.write(sent)
  await gone
  expect(received().split(' ')[1] ?? '').toBe(status)
})

test('a client that does not read its answer is cut', async () => {
  const cut = Promise.withResolvers<void>()
  // The answer is endless.
  const much = (): ReadableStream =>
    new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024)), cancel: () => cut.resolve() })
  const { port } = await start({
    routes: (app) => app.get('/much', (context) => context.body(much())),
    limits: { silenceMs: 300 },
  })
  const { socket, gone } = await connectRaw(port, { reads: false })
  socket.write('GET /much HTTP/1.1\r\nhost: a\r\n\r\n')
  await cut.promise
  // The buffers of the kernel still hold bytes. The client sees the end of the connection once it has read them.
  socket.resume()
  await gone
  expect(socket.destroyed).toBe(true)
})

test('connections are bounded: one more is closed, and those that are there go on', async () => {
  const served = await start({ limits: { connections: 2 } })
  const [first] = [await connectRaw(served.port), await connectRaw(served.port)]
  const third = await connectRaw(served.port)
  await third.gone
  first.socket.write('GET /livez HTTP/1.1\r\nhost: a\r\n\r\n')
  await expect.poll(first.received).toContain('200 OK')
})

test('close: a request under way is answered, no connection is taken, and idle ones end', async () => {
  const slow = gate()
  const served = await start({ routes: slow.routes })
  const agent = new Agent({ keepAlive: true })
  await ask(`${served.url}/livez`, { agent })
  const silent = await connectRaw(served.port)
  const answer = ask(`${served.url}/slow`)
  await slow.reached
  const closing = served.close({ graceMs: 20_000 })
  await expect(ask(`${served.url}/livez`)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  slow.open()
  expect(await answer).toMatchObject({ status: 200, body: 'done', headers: { connection: 'close' } })
  expect(await closing).toEqual({ cut: 0 })
  await silent.gone
  expect(await served.close()).toEqual({ cut: 0 })
  agent.destroy()
})

test('close: while a request is under way, the same connection is told that the server is not ready', async () => {
  const slow = gate()
  const served = await start({ routes: slow.routes })
  const { socket, received } = await connectRaw(served.port)
  socket.write('GET /slow HTTP/1.1\r\nhost: a\r\n\r\n')
  await slow.reached
  const other = await connectRaw(served.port)
  other.socket.write('GET /readyz HTTP/1.1\r\nhost: a\r\n')
  await wait(50)
  const closing = served.close({ graceMs: 20_000 })
  other.socket.write('\r\n')
  await expect.poll(other.received).toContain('503 Service Unavailable')
  expect(other.received()).toContain('{"ready":false,"because":[{"code":"closing"}]}')
  slow.open()
  await closing
  expect(received()).toContain('done')
})

test('close: what is not answered within the grace is cut, and counted', async () => {
  const slow = gate()
  const served = await start({ routes: slow.routes })
  const answer = ask(`${served.url}/slow`).catch((error: unknown) => error)
  await slow.reached
  expect(await served.close({ graceMs: 50 })).toEqual({ cut: 1 })
  expect(await answer).toMatchObject({ code: 'ECONNRESET' })
  slow.open()
})

test('Request and Response of the process stay those of Node', async () => {
  const before = [globalThis.Request, globalThis.Response]
  await start()
  expect(globalThis.Request === before[0] && globalThis.Response === before[1]).toBe(true)
})
