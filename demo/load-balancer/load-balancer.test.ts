import { createServer, get, type IncomingMessage, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createLoadBalancer, type LoadBalancer, type LoadBalancerOptions } from './load-balancer.ts'
import { createPool } from './pool.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

interface Backend {
  address: string
  connections(): number
  server: Server
}

/** Starts a server that answers with its name. The answer to `/hold` waits until `release` is called. */
async function startBackend(name: string, held: (() => void)[] = []): Promise<Backend> {
  let connections = 0
  const server = createServer((incoming, response) => {
    if (incoming.url === '/hold') {
      response.write(name)
      held.push(() => response.end())
    } else if (incoming.url === '/echo') incoming.pipe(response)
    else response.end(name)
  })
  server.on('connection', () => (connections += 1))
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  closing.push(() => {
    server.close()
    server.closeAllConnections()
  })
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, connections: () => connections, server }
}

async function start(options: LoadBalancerOptions): Promise<LoadBalancer> {
  const balancer = await createLoadBalancer(options)
  closing.push(() => balancer.close())
  return balancer
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of response) text += String(chunk)
  return text
}

function send(url: string, path = '/', method = 'GET', body?: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, { method, agent: false }, async (response) => {
      resolve({ status: response.statusCode!, text: await textOf(response) })
    })
    sent.once('error', reject)
    sent.end(body)
  })
}

async function admin(balancer: LoadBalancer, path: string, change?: object): Promise<{ status: number; body: unknown }> {
  const method = change === undefined ? 'GET' : 'PUT'
  const { status, text } = await send(balancer.adminUrl, path, method, change && JSON.stringify(change))
  return { status, body: JSON.parse(text) }
}

async function answers(balancer: LoadBalancer, count: number): Promise<string[]> {
  const texts: string[] = []
  for (let sent = 0; sent < count; sent += 1) texts.push((await send(balancer.trafficUrl)).text)
  return texts
}

test('requests go round, over kept connections; a body comes through', async () => {
  const [a, b] = [await startBackend('a'), await startBackend('b')]
  const servers = [
    { name: 'a', address: a.address },
    { name: 'b', address: b.address },
  ]
  const balancer = await start({ servers })
  expect(await answers(balancer, 6)).toEqual(['a', 'b', 'a', 'b', 'a', 'b'])
  expect([a.connections(), b.connections()]).toEqual([1, 1])
  expect(await send(balancer.trafficUrl, '/echo', 'POST', 'x'.repeat(100_000))).toEqual({
    status: 200,
    text: 'x'.repeat(100_000),
  })
})

test('turns are as the weights are', () => {
  const pool = createPool([
    { name: 'heavy', address: 'h:1', weight: 3 },
    { name: 'light', address: 'l:1', weight: 1 },
    { name: 'none', address: 'n:1', weight: 0 },
  ])
  expect(Array.from({ length: 8 }, () => pool.next()?.name).join(' ')).toBe('heavy heavy light heavy heavy heavy light heavy')
})

test('what is drained gets no new request, and ends what it has', async () => {
  const held: (() => void)[] = []
  const [a, b] = [await startBackend('a', held), await startBackend('b')]
  const balancer = await start({
    servers: [
      { name: 'a', address: a.address },
      { name: 'b', address: b.address },
    ],
  })
  const response = await new Promise<IncomingMessage>((resolve) => get(`${balancer.trafficUrl}/hold`, { agent: false }, resolve))
  expect(await admin(balancer, '/servers/a', { state: 'drain' })).toEqual({
    status: 200,
    body: { name: 'a', address: a.address, state: 'drain', weight: 100, inFlight: 1, healthy: true },
  })
  expect(new Set(await answers(balancer, 4))).toEqual(new Set(['b']))
  held[0]!()
  expect(await textOf(response)).toBe('a')
  await expect.poll(() => balancer.servers()[0]!.inFlight).toBe(0)
  await admin(balancer, '/servers/a', { state: 'ready', weight: 100 })
  expect(new Set(await answers(balancer, 4))).toEqual(new Set(['a', 'b']))
  expect(balancer.calls.map(({ method, path, status, changed }) => [method, path, status, changed])).toEqual([
    ['PUT', '/servers/a', 200, true],
    ['PUT', '/servers/a', 200, true],
  ])
})

test('a client that leaves is not in flight any more', async () => {
  const balancer = await start({ servers: [{ name: 'a', address: (await startBackend('a')).address }] })
  const response = await new Promise<IncomingMessage>((resolve) => get(`${balancer.trafficUrl}/hold`, { agent: false }, resolve))
  expect(balancer.servers()[0]!.inFlight).toBe(1)
  response.destroy()
  await expect.poll(() => balancer.servers()[0]!.inFlight).toBe(0)
})

test('a dead server gives 502 until its health checks have seen it; without any server it is 503', async () => {
  const backend = await startBackend('a')
  backend.server.close()
  const dead = await start({ servers: [{ name: 'a', address: backend.address }] })
  expect((await send(dead.trafficUrl)).status).toBe(502)
  const checked = await start({ servers: [{ name: 'a', address: backend.address }], healthCheckEveryMs: 10 })
  await expect.poll(() => checked.servers()[0]!.healthy).toBe(false)
  expect((await send(checked.trafficUrl)).status).toBe(503)
})

test('the admin API lists, and refuses what it does not know', async () => {
  const name = 'a/b "c"'
  const balancer = await start({ servers: [{ name, address: '127.0.0.1:1', weight: 7 }], token: 'open' })
  const server = { name, address: '127.0.0.1:1', state: 'ready', weight: 7, inFlight: 0, healthy: true }
  expect(await admin(balancer, '/servers')).toEqual({ status: 200, body: { servers: [server] } })
  expect((await admin(balancer, `/servers/${encodeURIComponent(name)}`)).status).toBe(200)
  expect((await admin(balancer, '/servers/a/b')).status).toBe(404)
  expect(await admin(balancer, '/servers/b')).toEqual({ status: 404, body: { error: 'there is no server b' } })
  expect((await admin(balancer, `/servers/${encodeURIComponent(name)}`, { state: 'drain' })).status).toBe(403)
  expect((await admin(balancer, '/servers', { state: 'drain' })).status).toBe(405)
})

test.each([{ state: 'gone' }, { weight: 257 }, { weight: '7' }, { wait: 1 }, []])('it refuses %j', async (change) => {
  const balancer = await start({ servers: [{ name: 'a', address: '127.0.0.1:1' }] })
  expect((await admin(balancer, '/servers/a', change)).status).toBe(400)
  expect(balancer.servers()[0]).toMatchObject({ state: 'ready', weight: 100 })
})

test('a restart forgets what was set', async () => {
  const balancer = await start({ servers: [{ name: 'a', address: '127.0.0.1:1', weight: 9 }] })
  await admin(balancer, '/servers/a', { state: 'maint', weight: 1 })
  balancer.restart()
  expect((await admin(balancer, '/servers/a')).body).toMatchObject({ state: 'ready', weight: 9 })
})
