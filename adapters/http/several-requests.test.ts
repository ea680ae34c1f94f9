/* Tests of options with more than one request: documents beside the list, sessions, effects with conditions, and hosts of entries. */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { drainOne, inspectOne, restoreOne, snapshotOne } from '../conformance/steps.ts'
import type { Adapter, Target } from '../contract.ts'
import { http } from './index.ts'
import { serversApi } from './testing/servers-api.ts'

const cleanups: (() => void)[] = []
afterEach(() => {
  for (const clean of cleanups.splice(0)) clean()
  vi.unstubAllEnvs()
})

interface Asked {
  method: string
  url: string
  headers: IncomingMessage['headers']
  body: unknown
}

type Answer = { status?: number; body?: unknown; headers?: Record<string, string> }

async function serve(answer: (asked: Asked) => Answer): Promise<{ url: string; asked: Asked[] }> {
  const all: Asked[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk as string
    const { method = '', url = '', headers } = request
    const asked = { method, url, headers, body: text === '' ? undefined : (JSON.parse(text) as unknown) }
    all.push(asked)
    const { status = 200, body = {}, headers: more = {} } = answer(asked)
    response.writeHead(status, { 'content-type': 'application/json', ...more }).end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  cleanups.push(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: all }
}

function create(options: Record<string, unknown>): Adapter {
  const adapter = http.create(http.options.parse(options), { name: 'edge' })
  cleanups.push(() => void adapter.close())
  return adapter
}

interface Written {
  [key: string]: unknown
  inspect: Record<string, unknown>
  drain: Record<string, unknown>
}

function problemsOf(over: (options: Written) => void): string {
  const options = serversApi('http://lb:1') as unknown as Written
  over(options)
  const parsed = http.options.safeParse(options)
  return parsed.success
    ? 'right'
    : parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message.split('\n')[0]}`).join('; ')
}

const A: Target = { id: 'a@10.0.0.1:80', scope: 'all' }
const SERVER = { name: 'a', address: '10.0.0.1:80', state: 'ready', weight: 1, inFlight: 0, healthy: true }

test('a document beside the list is asked for right after it: its count is not older than the drain that the list shows', async () => {
  const { url, asked } = await serve(({ url: path }) =>
    path === '/counts' ? { body: { a: asked.length } } : { body: { servers: [SERVER] } },
  )
  const options = serversApi(url)
  const inspect = { ...(options['inspect'] as object), also: { counts: { path: '/counts' } }, inFlight: 'also.counts[target.id]' }
  const adapter = create({ ...options, inspect })
  expect((await inspectOne(adapter, A)).inFlight).toBe(2)
  expect(asked.map((one) => one.url)).toEqual(['/servers', '/counts'])
})

test('with a request for each target, the document beside it is of that target', async () => {
  const { url, asked } = await serve(({ url: path }) => (path.startsWith('/counts') ? { body: { now: 4 } } : { body: SERVER }))
  const options = serversApi(url)
  const also = { counts: { path: '/counts/${target.id}' } }
  const inspect = {
    ...(options['inspect'] as object),
    request: { path: '/servers/${target.id}' },
    also,
    inFlight: 'also.counts.now',
  }
  expect((await inspectOne(create({ ...options, inspect }), A)).inFlight).toBe(4)
  expect(asked.map((one) => one.url)).toEqual(['/servers/a', '/counts/a'])
})

test('where the document beside it is missing, the target is neither gone nor drained', async () => {
  const { url } = await serve(({ url: path }) => (path === '/counts' ? { status: 404 } : { body: { servers: [SERVER] } }))
  const options = serversApi(url)
  const adapter = create({ ...options, inspect: { ...(options['inspect'] as object), also: { counts: { path: '/counts' } } } })
  await expect(inspectOne(adapter, A)).rejects.toMatchObject({
    kind: 'retryable',
    message: expect.stringContaining('inspect.also.counts'),
  })
  expect(await drainOne(adapter, A)).toMatchObject({ outcome: 'failed', error: { kind: 'retryable' } })
})

test('of several requests the first that fits is sent; where none does, nothing is', async () => {
  const server = { ...SERVER, state: 'drain' }
  const { url, asked } = await serve(() => ({ body: { servers: [server] } }))
  const restore = [
    { when: 'prior.weight == 0', method: 'DELETE', path: '/override' },
    { when: 'prior.weight == 1', method: 'PUT', path: '/ready' },
  ]
  const adapter = create({ ...serversApi(url), restore })
  const writes = (): string[] => asked.filter(({ method }) => method !== 'GET').map((one) => `${one.method} ${one.url}`)
  expect(await restoreOne(adapter, A, { state: 'ready', weight: 0 })).toEqual({ outcome: 'applied' })
  expect(await restoreOne(adapter, A, { state: 'ready', weight: 1 })).toEqual({ outcome: 'applied' })
  expect(writes()).toEqual(['DELETE /override', 'PUT /ready'])
  expect(await restoreOne(adapter, A, { state: 'ready', weight: 2 })).toMatchObject({
    error: { message: expect.stringContaining('restore: there is no request for this') },
  })
  expect(writes()).toHaveLength(2)
})

test('an entry that is not in the list is drained where a drain takes it away; an operator’s removal stays', async () => {
  let servers: object[] = [SERVER]
  const { url, asked } = await serve(() => ({ body: { servers }, headers: { etag: '"1"' } }))
  const options = serversApi(url)
  const inspect = { missing: 'draining', admin: '"in"', prior: 'entry', inFlight: 'entry == null ? 0 : entry.inFlight' }
  const headers = { 'If-Match': '${headers.etag}' }
  const drain = { method: 'PUT', path: '/servers', headers, body: '${body.servers.filter(one, one.name != target.id)}' }
  const restore = { method: 'PUT', path: '/servers', headers, body: '${body.servers + [prior.set("by", operation.id)]}' }
  const adapter = create({ ...options, inspect, drain, restore, capabilities: { idempotency: 'cas' } })
  const { prior } = await snapshotOne(adapter, A)
  servers = []
  expect(await inspectOne(adapter, A)).toMatchObject({ admin: 'draining', routable: false, inFlight: 0 })
  expect(await restoreOne(adapter, A, prior)).toEqual({ outcome: 'applied' })
  expect(asked.at(-1)?.body).toEqual([{ ...SERVER, by: `operation-${A.id}` }])
  const removed = await snapshotOne(adapter, A)
  expect(removed.inRotation).toBe(false)
  const before = asked.length
  expect(await restoreOne(adapter, A, removed.prior)).toEqual({ outcome: 'applied' })
  expect(asked.slice(before).map(({ method }) => method)).toEqual(['GET'])
})

test('where null stands in the place of the list, nothing is drained', async () => {
  const { url } = await serve(() => ({ body: { servers: null } }))
  const options = serversApi(url)
  const adapter = create({ ...options, inspect: { missing: 'draining', admin: '"in"', prior: 'entry' } })
  await expect(inspectOne(adapter, A)).rejects.toThrow('is null, not a list')
})

test('a request may go to the host that has the entry, and nowhere else', async () => {
  let node = '127.0.0.1'
  const agent = await serve(() => ({}))
  const { url } = await serve(() => ({ body: { servers: [{ ...SERVER, node }] } }))
  const drain = { method: 'PUT', url: `http://\${entry.node}:${new URL(agent.url).port}`, path: '/drain/${target.id}' }
  const adapter = create({ ...serversApi(url), drain })
  expect(await drainOne(adapter, A)).toEqual({ outcome: 'applied' })
  expect(agent.asked.map((one) => one.url)).toEqual(['/drain/a'])
  for (node of ['evil/path', 'user@evil', '127.0.0.1:1', 'a?b', '', 'a b'])
    expect(await drainOne(adapter, A)).toMatchObject({ outcome: 'failed', error: { kind: 'fatal' } })
  expect(agent.asked).toHaveLength(1)
})

test.each([
  ['the token of auth', { auth: { bearer: { env: 'LB_TOKEN' } } }],
  [
    'the token of a login',
    {
      login: {
        request: { method: 'POST', path: '/login', body: { password: '${secrets.password}' } },
        secrets: { password: { env: 'LB_TOKEN' } },
        token: 'body.session',
        header: 'X-Token',
        lifetime: '10m',
      },
    },
  ],
])('%s goes over plain HTTP to the host of an entry only where the config allows it', async (_what, credentials) => {
  vi.stubEnv('LB_TOKEN', 'open-sesame')
  let node = '127.0.0.1'
  const agent = await serve(() => ({ body: { session: 's' } }))
  const drains = () => agent.asked.filter((one) => one.url === '/drain').length
  const { url } = await serve(({ method }) => ({
    body: method === 'POST' ? { session: 's' } : { servers: [{ ...SERVER, node }] },
  }))
  const drain = { method: 'PUT', url: `http://\${entry.node}:${new URL(agent.url).port}`, path: '/drain' }
  const options = { ...serversApi(url), drain, ...credentials }
  const adapter = create(options)
  expect(await drainOne(adapter, A)).toEqual({ outcome: 'applied' })
  expect(drains()).toBe(1)

  // An address of this machine that is not a loopback address by name.
  node = '0.0.0.0'
  const why = 'drain.url: would send credentials over plain HTTP to 0.0.0.0:'
  const rehearsed = await adapter.rehearse!([{ target: A, prior: null }], { deadlineMs: 20_000, assertLive: () => {} })
  expect(rehearsed.get(A.id)?.message).toContain(why)
  const refused = await drainOne(adapter, A)
  expect(refused).toMatchObject({ outcome: 'failed', error: { kind: 'fatal', message: expect.stringContaining(why) } })
  expect([drains(), agent.asked.every(({ headers }) => headers.host?.startsWith('127.0.0.1:'))]).toEqual([1, true])
  expect(await drainOne(create({ ...options, allowPlainHttp: true }), A)).toEqual({ outcome: 'applied' })
  expect(drains()).toBe(2)
})

test('the token of a login goes with each request, and is shown in no error', async () => {
  vi.stubEnv('LB_PASSWORD', 'open-sesame')
  const { url, asked } = await serve(({ method, headers }) => {
    if (method === 'POST') return { body: { session: 'the-session-token' } }
    return { status: 500, body: { echo: headers['x-token'] } }
  })
  const login = {
    request: { method: 'POST', path: '/login', body: { user: 'me', password: '${secrets.password}' } },
    secrets: { password: { env: 'LB_PASSWORD' } },
    token: 'body.session',
    header: 'X-Token',
    lifetime: '10m',
  }
  const error = await inspectOne(create({ ...serversApi(url), login }), A).catch((thrown: Error) => thrown)
  expect(asked.map(({ method, url: path, body, headers }) => [method, path, body, headers['x-token']])).toEqual([
    ['POST', '/login', { user: 'me', password: 'open-sesame' }, undefined],
    ['GET', '/servers', undefined, 'the-session-token'],
  ])
  expect(String(error)).toContain('***')
  expect(String(error)).not.toMatch(/open-sesame|the-session-token/)
})

test('calls at once share one login', async () => {
  vi.stubEnv('LB_PASSWORD', 'open-sesame')
  const { url, asked } = await serve(({ method }) => ({ body: method === 'POST' ? { session: 's' } : { servers: [SERVER] } }))
  const login = {
    request: { method: 'POST', path: '/login', body: { password: '${secrets.password}' } },
    secrets: { password: { env: 'LB_PASSWORD' } },
    token: 'body.session',
    header: 'X-Token',
    lifetime: '10m',
  }
  const adapter = create({ ...serversApi(url), login })
  await Promise.all([1, 2, 3, 4].map(() => inspectOne(adapter, A)))
  expect(asked.filter(({ method }) => method === 'POST')).toHaveLength(1)
})

test.each<[string, (options: Written) => void, string]>([
  ['a list whose first request has no when', (o) => Object.assign(o, { drain: [o.drain, o.drain] }), 'drain.0.when: is missing'],
  [
    'a when that is no condition',
    (o) => (o.drain['when'] = '"a"'),
    'drain.when: the expression "a" gives string, not true or false',
  ],
  ['a url with a path', (o) => (o.drain['url'] = 'http://a/b'), 'drain.url: is no http or https URL of a host'],
  ['a url of another protocol', (o) => (o.drain['url'] = 'https://a'), 'drain.url: is of another protocol than url'],
  [
    'missing without a list',
    (o) => Object.assign(o.inspect, { missing: 'draining', request: { path: '/a' } }),
    'inspect.missing: needs targets.request',
  ],
  [
    'wrong CEL beside the list',
    (o) => (o.inspect['also'] = { n: { path: '/${target.id}' } }),
    'inspect.also.n.path: the expression target.id is wrong',
  ],
  ['a name that is none', (o) => (o.inspect['also'] = { 'a-b': { path: '/' } }), 'inspect.also.a-b: '],
  [
    'a password in the body of a login',
    (o) =>
      (o['login'] = {
        request: { method: 'POST', path: '/l', body: { password: 'x' } },
        secrets: {},
        token: 'body.t',
        header: 'T',
        lifetime: '1m',
      }),
    'login.request.body.password: holds a secret',
  ],
  [
    'a unit of another protocol',
    (o) => (o['failover'] = { urls: ['https://b'], request: { path: '/' }, active: 'body.a' }),
    'failover.urls.0: is not http, as url is',
  ],
  [
    'an active that is no condition',
    (o) => (o['failover'] = { request: { path: '/' }, active: '"x"' }),
    'failover.active: the expression "x" gives string',
  ],
])('%s is refused', (_title, over, expected) => {
  expect(problemsOf(over)).toContain(expected)
})
