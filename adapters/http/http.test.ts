/** Tests of the adapter http beyond the conformance kit, on the load balancer of demo/. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createLoadBalancer, type LoadBalancer, type LoadBalancerOptions } from '../../demo/load-balancer/load-balancer.ts'
import type { Adapter, EffectCall, Endpoint, Json, Target } from '../contract.ts'
import { http } from './index.ts'
import { serversApi } from './testing/servers-api.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
  vi.unstubAllEnvs()
})

function effectCall(over: Partial<EffectCall> = {}): EffectCall {
  return { deadlineMs: 20_000, assertLive: () => {}, operationIds: new Map(), fence: 1, ...over }
}
const call = effectCall()

const NO_LIST = 'targets.each: body.servers is "none", not a list; name the list of entries with targets.each'

function create(options: Record<string, unknown>): Adapter {
  const adapter = http.create(http.options.parse(options), { name: 'edge' })
  cleanups.push(() => adapter.close())
  return adapter
}

async function balance(options: LoadBalancerOptions): Promise<LoadBalancer> {
  const balancer = await createLoadBalancer(options)
  cleanups.push(() => balancer.close())
  return balancer
}

/** A call to a load balancer whose answers the test gives. */
interface Told {
  method: string
  url: string
  headers: Record<string, unknown>
  body: unknown
}
interface Answer {
  status?: number
  headers?: Record<string, string>
  body?: unknown
  /** A text body instead of a JSON body. */
  text?: string
}
async function tell(answer: (call: Told) => Answer) {
  const calls: Told[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const { method = '', url = '', headers } = request
    const told = { method, url, headers, body: text === '' ? undefined : JSON.parse(text) }
    calls.push(told)
    const { status = 200, headers: said = {}, body = {}, text: plain } = answer(told)
    response.writeHead(status, said).end(plain ?? JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  cleanups.push(() => {
    server.close()
    server.closeAllConnections()
  })
  const writes = () => calls.filter(({ method }) => method !== 'GET')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls, writes }
}

function endpoint(address: string, port = 80): Endpoint {
  return { uid: 'uid', pod: 'web-0', address, port }
}

async function targetOf(adapter: Adapter, of: Endpoint): Promise<Target> {
  const [resolution] = await adapter.resolve([of], call)
  if (resolution?.found !== true) throw new Error(resolution?.reason)
  return resolution.targets[0]!
}

async function resultOf(effect: Promise<Map<string, { outcome: string; error?: Error }>>): Promise<unknown> {
  const [result] = (await effect).values()
  return result?.outcome === 'failed' ? [(result.error as { kind?: string }).kind, result.error!.message] : result?.outcome
}

test.each(['a/b', '../servers/other', '?x=1&y', 'a#b', 'a%2Fb', 'a"b\\c', '${target.id}', 'ünï ☃', 'a@b@c', ' ', '%'])(
  'the name %j reaches its own entry, and no other',
  async (name) => {
    const balancer = await balance({
      servers: [
        { name: 'other', address: '10.0.0.9:80' },
        { name, address: '10.0.0.1:80' },
      ],
    })
    const options = serversApi(balancer.adminUrl)
    const { drain } = options as { drain: Record<string, unknown> }
    const adapter = create({ ...options, drain: { ...drain, path: '/servers/${target.id}', body: { state: 'drain' } } })
    const target = await targetOf(adapter, endpoint('10.0.0.1'))
    expect(target).toEqual({ id: `${name}@10.0.0.1:80`, scope: 'all' })
    const { prior } = (await adapter.snapshot([target], call)).get(target.id)!
    expect(await resultOf(adapter.drain([target], call))).toBe('applied')
    expect(balancer.servers().map(({ state }) => state)).toEqual(['ready', 'drain'])
    expect(await resultOf(adapter.restore([{ target, prior }], call))).toBe('applied')
    expect(balancer.servers().map(({ state }) => state)).toEqual(['ready', 'ready'])
  },
)

test.each(['.', '..'])('the name %j is refused before anything is sent: a URL would go elsewhere', async (name) => {
  const balancer = await balance({ servers: [{ name, address: '10.0.0.1:80' }] })
  const adapter = create(serversApi(balancer.adminUrl))
  const target = await targetOf(adapter, endpoint('10.0.0.1'))
  expect(await resultOf(adapter.drain([target], call))).toEqual([
    'fatal',
    expect.stringContaining('cannot stand for a name in a path'),
  ])
  expect(balancer.calls.filter(({ method }) => method !== 'GET')).toEqual([])
})

test('hostile values are data in a body and refused in a header', async () => {
  const name = 'a", "state": "ready'
  const lb = await tell(({ method }) => ({
    body: method === 'GET' ? [{ name, address: '10.0.0.1:80', evil: 'x\r\nX-Admin: 1' }] : {},
  }))
  const base = { url: lb.url, targets: { request: { path: '/' }, id: 'entry.name', address: 'entry.address' } }
  const inspect = { admin: 'entry.name == "drained" ? "draining" : "in"', prior: '{"evil": entry.evil}' }
  const drain = { method: 'POST', path: '/drain', body: { name: '${target.id}', text: 'of ${target.id}' } }
  const restore = { method: 'POST', path: '/restore', headers: { 'X-Prior': '${prior.evil}' } }
  const adapter = create({ ...base, inspect, drain, restore })
  const target = await targetOf(adapter, endpoint('10.0.0.1'))
  expect(await resultOf(adapter.drain([target], call))).toBe('applied')
  expect(lb.writes()[0]!.body).toEqual({ name, text: `of ${name}` })
  const restored = adapter.restore([{ target, prior: { evil: 'x\r\nX-Admin: 1' } }], call)
  // The target has that prior state already, so nothing is sent. With another prior state, the header is wrong.
  expect(await resultOf(restored)).toBe('applied')
  expect(await resultOf(adapter.restore([{ target, prior: { evil: 'y\nz' } }], call))).toEqual([
    'retryable',
    expect.stringContaining('restore.headers.X-Prior: "y\\nz" cannot stand in a header'),
  ])
  expect(lb.writes().length).toBe(1)
})

test('a target that is drained is put back also where the prior state does not say that it was in rotation', async () => {
  const balancer = await balance({ servers: [{ name: 'a', address: '10.0.0.1:80', weight: 7 }] })
  const options = serversApi(balancer.adminUrl) as Record<string, Record<string, unknown>>
  const inspect = { ...options['inspect'], prior: '{"weight": entry.weight}' }
  const restore = { ...options['restore'], body: { state: 'ready', weight: '${prior.weight}' } }
  const adapter = create({ ...options, inspect, restore })
  const target = await targetOf(adapter, endpoint('10.0.0.1'))
  const { prior } = (await adapter.snapshot([target], call)).get(target.id)!
  expect(await resultOf(adapter.drain([target], call))).toBe('applied')
  expect(await resultOf(adapter.restore([{ target, prior }], call))).toBe('applied')
  expect(balancer.servers().map(({ state }) => state)).toEqual(['ready'])
  const sent = balancer.calls.length
  expect(await resultOf(adapter.restore([{ target, prior }], call))).toBe('applied')
  expect(balancer.calls.slice(sent).filter(({ method }) => method !== 'GET')).toEqual([])
})

// A restore must not end this maintenance, with versions or without.
test.each(['absolute-set', 'cas'])(
  '%s: a maintenance that began after the drain is not ended, also where the prior state does not say that there was none',
  async (idempotency) => {
    const server = { name: 'a', address: '10.0.0.1:80', state: 'ready', weight: 7, healthy: true, inFlight: 0 }
    const lb = await tell(({ method, body }) => {
      if (method === 'PUT') Object.assign(server, body)
      return { headers: { etag: '"1"' }, body: { servers: [server] } }
    })
    const options = serversApi(lb.url) as Record<string, Record<string, unknown>>
    const headers = { 'If-Match': '${headers.etag}' }
    const drain = { ...options['drain'], headers }
    const restore = { ...options['restore'], headers, body: { state: 'ready', weight: '${prior.weight}' } }
    const inspect = { ...options['inspect'], prior: '{"weight": entry.weight}' }
    const adapter = create({ ...options, inspect, drain, restore, capabilities: { idempotency } })
    const snapshot = async () => (await adapter.snapshot([A], call)).get(A.id)!
    const before = await snapshot()
    expect(before).toEqual({ prior: { weight: 7 }, inRotation: true, weight: 7 })
    expect(await resultOf(adapter.drain([A], call))).toBe('applied')
    server.state = 'maint'
    const conflict = ['conflict', expect.stringContaining('which a restore would end')]
    expect(await resultOf(adapter.restore([{ target: A, prior: before.prior }], call))).toEqual(conflict)
    expect(lb.writes()).toHaveLength(1)
    // A target that was in maintenance before the drain is already in its prior state.
    const maintained = await snapshot()
    expect(maintained.inRotation).toBe(false)
    expect(await resultOf(adapter.restore([{ target: A, prior: maintained.prior }], call))).toBe('applied')
    expect(lb.writes()).toHaveLength(1)
    server.state = 'drain'
    expect(await resultOf(adapter.restore([{ target: A, prior: before.prior }], call))).toBe('applied')
    expect(server).toMatchObject({ state: 'ready', weight: 7 })
  },
)

// A failure before a restore is sent must not end the restore.
test('what is wrong for a moment before a restore is sent does not end it; of a drain it does', async () => {
  const server = { name: 'a', address: '10.0.0.1:80', state: 'drain', weight: 1, healthy: true, inFlight: 0 }
  let servers: Json = [server]
  const lb = await tell(({ method, body }) => {
    if (method === 'PUT') Object.assign(server, body)
    return { body: { servers } }
  })
  vi.stubEnv('EDGE_TOKEN', 's3cr3t-of-the-edge')
  const options = serversApi(lb.url) as Record<string, Record<string, unknown>>
  const headers = { 'X-Weight': '${prior.weight}' }
  const restore = { ...options['restore'], headers }
  const adapter = create({ ...options, restore, auth: { bearer: { env: 'EDGE_TOKEN' } } })
  const prior = { state: 'ready', weight: 1 }
  const restored = (of: Json = prior) => resultOf(adapter.restore([{ target: A, prior: of }], call))
  const drained = () => resultOf(adapter.drain([A], call))

  servers = 'none'
  expect(await restored()).toEqual(['retryable', `http edge: ${NO_LIST}`])
  expect(await drained()).toEqual(['fatal', `http edge: ${NO_LIST}`])
  servers = [{ ...server, weight: 'heavy' }]
  expect(await restored()).toEqual(['retryable', expect.stringMatching(/^http edge: inspect\.weight gives "heavy"/)])
  expect(await drained()).toEqual(['fatal', expect.stringContaining('inspect.weight gives "heavy"')])
  servers = [server]
  expect(await restored({ state: 'ready' })).toEqual(['retryable', expect.stringContaining('No such key: weight')])
  vi.stubEnv('EDGE_TOKEN', '')
  expect(await restored()).toEqual(['retryable', 'http edge: the environment variable EDGE_TOKEN is empty'])
  expect(await drained()).toEqual(['fatal', 'http edge: the environment variable EDGE_TOKEN is empty'])
  vi.stubEnv('EDGE_TOKEN', 's3cr3t-of-the-edge')
  expect(lb.writes()).toEqual([])
  expect(await restored()).toBe('applied')
})

// An API of Go writes an empty list as null.
test.each([{ each: 'body.servers' }, { each: undefined }])(
  'null in the place of a list is an empty one ($each)',
  async ({ each }) => {
    const lb = await tell(() => ({ body: each === undefined ? null : { servers: null } }))
    const options = serversApi(lb.url)
    const adapter = create({ ...options, targets: { ...(options['targets'] as object), each } })
    expect(await adapter.resolve([endpoint('10.0.0.1')], call)).toEqual([
      { found: false, reason: 'none of 0 entries has the address 10.0.0.1:80' },
    ])
    expect((await adapter.inspect([A], call)).get(A.id)).toMatchObject({ admin: 'absent', moved: false })
  },
)

test('a secret is sent, is read anew each time, and is named by its place where it cannot be read', async () => {
  const lb = await tell(() => ({ body: [] }))
  const headers = { 'X-Api-Key': { env: 'EDGE_KEY', prefix: 'Key ' } }
  const auth = { basic: { username: 'admin', password: { env: 'EDGE_PASSWORD' } } }
  const targets = { request: { path: '/' }, id: 'entry.name', address: 'entry.address' }
  const adapter = create({ ...serversApi(lb.url), targets, headers, auth })
  await expect(adapter.resolve([], call)).rejects.toMatchObject({
    kind: 'fatal',
    message: 'http edge: the environment variable EDGE_PASSWORD is not set',
  })
  vi.stubEnv('EDGE_KEY', 'k1\n')
  vi.stubEnv('EDGE_PASSWORD', 'pass')
  await adapter.resolve([], call)
  vi.stubEnv('EDGE_KEY', 'k2')
  await adapter.resolve([], call)
  expect(lb.calls.map(({ headers: sent }) => sent['x-api-key'])).toEqual(['Key k1', 'Key k2'])
  expect(lb.calls[0]!.headers['authorization']).toBe(`Basic ${Buffer.from('admin:pass').toString('base64')}`)
})

test('an entry with another address by now is another pod’s: absent, moved, and left alone', async () => {
  const balancer = await balance({ servers: [{ name: 'a', address: '10.0.0.2:80' }] })
  for (const inspect of [{}, { request: { path: '/servers/${target.id}' } }]) {
    const options = serversApi(balancer.adminUrl)
    const adapter = create({ ...options, inspect: { ...(options['inspect'] as object), ...inspect } })
    const target = { id: 'a@10.0.0.1:80', scope: 'all' }
    expect((await adapter.inspect([target], call)).get(target.id)).toEqual({
      admin: 'absent',
      moved: true,
      routable: false,
      inFlight: null,
      detail: 'a has the address 10.0.0.2:80 now, not 10.0.0.1:80',
    })
    expect(await resultOf(adapter.drain([target], call))).toEqual(['not-found', expect.stringContaining('10.0.0.2:80')])
    expect(adapter.entryOf!(target)).toBe(adapter.entryOf!({ id: 'a@10.0.0.2:80', scope: 'all' }))
  }
  expect(balancer.calls.filter(({ method }) => method !== 'GET')).toEqual([])
})

const READS_ONE = { request: { path: '/servers/${target.id}' } }

/** A load balancer with a list and a path for each entry. If a path matches `away`, a gateway answers in its place. */
async function tellServers(name = 'a') {
  const state = {
    servers: [{ name, address: '10.0.0.1:80', state: 'ready', weight: 1, healthy: true, inFlight: 0 }] as Record<string, Json>[],
    /** The paths for which a gateway without a route answers. */
    away: /^$/,
    gateway: '404 page not found\n',
  }
  const lb = await tell(({ method, url, body }) => {
    if (state.away.test(url)) return { status: 404, text: state.gateway }
    if (url === '/servers') return { body: { servers: state.servers } }
    const server = state.servers.find((one) => url === `/servers/${String(one['name'])}`)
    if (server === undefined) return { status: 404, text: 'no such server' }
    if (method === 'PUT') Object.assign(server, body)
    return { body: { ...server } }
  })
  return { ...lb, state }
}

const A = { id: 'a@10.0.0.1:80', scope: 'all' }

describe.each([
  { reads: 'the list', inspect: {} },
  { reads: 'one entry at a time', inspect: READS_ONE },
])('reading $reads', ({ inspect }) => {
  async function begin() {
    const lb = await tellServers()
    const options = serversApi(lb.url)
    return { ...lb, adapter: create({ ...options, inspect: { ...(options['inspect'] as object), ...inspect } }) }
  }
  const adminOf = async (adapter: Adapter) => (await adapter.inspect([A], call).catch(() => undefined))?.get(A.id)?.admin

  // A gateway without a route does not prove that a target is gone.
  test.each(['404 page not found\n', '{"message": "no Route matched with those values"}'])(
    'a gateway that says %j takes nothing out, and an effect is tried again',
    async (gateway) => {
      const { adapter, state, writes } = await begin()
      Object.assign(state, { away: /./, gateway })
      expect([undefined, 'unknown']).toContain(await adminOf(adapter))
      expect(await resultOf(adapter.drain([A], call))).toEqual(['retryable', expect.stringContaining('answered 404')])
      expect(await resultOf(adapter.restore([{ target: A, prior: {} }], call))).toEqual(['retryable', expect.any(String)])
      expect(writes()).toEqual([])
    },
  )

  test('an entry that is in the list no more is absent', async () => {
    const { adapter, state } = await begin()
    state.servers = []
    expect(await adminOf(adapter)).toBe('absent')
    expect(await resultOf(adapter.drain([A], call))).toEqual(['not-found', 'http edge: there is no entry a any more'])
  })

  // A reload may give an entry another name.
  test('an entry that goes by another name since a reload is the same one: seen, drained, and put back', async () => {
    const { adapter, state, writes } = await begin()
    const { prior } = (await adapter.snapshot([A], call)).get(A.id)!
    state.servers[0]!['name'] = 'slot7'
    expect((await adapter.inspect([A], call)).get(A.id)).toMatchObject({
      admin: 'in',
      routable: true,
      detail: 'slot7: in, weight 1',
    })
    expect(await resultOf(adapter.drain([A], call))).toBe('applied')
    expect((await adapter.inspect([A], call)).get(A.id)).toMatchObject({ admin: 'draining', routable: false })
    expect(await resultOf(adapter.restore([{ target: A, prior }], call))).toBe('applied')
    expect(writes().map(({ url }) => url)).toEqual(['/servers/slot7', '/servers/slot7'])
    expect((await adapter.snapshot([A], call)).get(A.id)).toMatchObject({ prior, inRotation: true })
  })

  test('where two others have its address, it is not known, and left alone', async () => {
    const { adapter, state, writes } = await begin()
    state.servers = ['x', 'y'].map((name) => ({ ...state.servers[0], name }))
    expect(await adminOf(adapter)).toBe('unknown')
    expect(await resultOf(adapter.drain([A], call))).toEqual(['retryable', expect.stringContaining('x and y have its address')])
    expect(writes()).toEqual([])
  })

  test('where its name is another’s by now, and another has its address, it is not out', async () => {
    const { adapter, state, writes } = await begin()
    const [server] = state.servers
    state.servers = [
      { ...server, address: '10.0.0.2:80' },
      { ...server, name: 'b' },
    ]
    expect((await adapter.inspect([A], call)).get(A.id)).toMatchObject({
      admin: 'absent',
      moved: true,
      routable: true,
      detail: 'a has the address 10.0.0.2:80 now, not 10.0.0.1:80, which b has',
    })
    expect(await resultOf(adapter.drain([A], call))).toEqual(['not-found', expect.any(String)])
    expect(writes()).toEqual([])
  })
})

describe.each([
  { reads: 'the list', inspect: {} },
  { reads: 'one entry at a time', inspect: READS_ONE },
])('a pod that has two entries, reading $reads', ({ inspect }) => {
  async function begin(pools: [string, string] = ['all', 'all']) {
    const lb = await tellServers('web.a')
    const [web] = lb.state.servers
    const [one, other] = [
      { ...web, pool: pools[0] },
      { ...web, name: 'api.a', weight: 10, pool: pools[1] },
    ]
    lb.state.servers = [one, other]
    const options = serversApi(lb.url)
    const targets = { ...(options['targets'] as object), scope: 'entry.pool' }
    const adapter = create({ ...options, targets, inspect: { ...(options['inspect'] as object), ...inspect } })
    const [resolution] = await adapter.resolve([endpoint('10.0.0.1')], call)
    if (resolution?.found !== true) throw new Error(resolution?.reason)
    const admins = async (asked: readonly Target[]) =>
      [...(await adapter.inspect(asked, call)).values()].map(({ admin }) => admin)
    return { ...lb, adapter, one, other, targets: resolution.targets as [Target, Target], admins }
  }

  // A drain of one entry does not prove a drain of the other one with the same address.
  test('the one that is missing for a moment is not read as the other, and gets no call in its place', async () => {
    const { adapter, state, one, other, targets, admins, writes } = await begin()
    const [web, api] = targets
    expect([web.id, api.id]).toEqual(['web.a@10.0.0.1:80+', 'api.a@10.0.0.1:80+'])
    expect(adapter.entryOf!(web)).toBe('web.a')
    const { prior } = (await adapter.snapshot([web], call)).get(web.id)!
    expect(await resultOf(adapter.drain([api], call))).toBe('applied')
    expect(await admins(targets)).toEqual(['in', 'draining'])
    const drained = state.servers.find(({ name }) => name === 'api.a')!
    state.servers = [drained]
    expect(await admins(targets)).toEqual(['unknown', 'draining'])
    expect(await admins([web])).toEqual(['unknown'])
    const left = ['retryable', expect.stringContaining('api.a, which has its address, may be another of the same pod')]
    expect(await resultOf(adapter.drain([web], call))).toEqual(left)
    expect(await resultOf(adapter.restore([{ target: web, prior }], call))).toEqual(left)
    expect(writes().map(({ url }) => url)).toEqual(['/servers/api.a'])
    state.servers = [one, other]
    expect(await resultOf(adapter.drain([web], call))).toBe('applied')
    state.servers = []
    expect(await admins(targets)).toEqual(['absent', 'absent'])
  })

  test('two of one read are never one entry, whatever their ids say', async () => {
    const { state, one, other, admins } = await begin()
    const plain = ['web.a', 'api.a'].map((name) => ({ id: `${name}@10.0.0.1:80`, scope: 'all' }))
    state.servers = [other]
    expect(await admins(plain)).toEqual(['unknown', 'in'])
    state.servers = [{ ...one, name: 'slot7' }]
    expect(await admins(plain)).toEqual(['unknown', 'unknown'])
    expect(await admins(plain.slice(0, 1))).toEqual(['in'])
  })

  test('in scopes of their own, each is followed to its new name', async () => {
    const { state, one, other, targets, admins } = await begin(['web', 'api'])
    expect(targets).toEqual([
      { id: 'web.a@10.0.0.1:80', scope: 'web' },
      { id: 'api.a@10.0.0.1:80', scope: 'api' },
    ])
    state.servers = [{ ...one, name: 'slot7', state: 'drain' }, other]
    expect(await admins(targets)).toEqual(['draining', 'in'])
  })
})

// The pod may get requests through that entry.
test('an entry that has the address of a pod and cannot be read whole is not passed over', async () => {
  const { url, state } = await tellServers()
  const [server] = state.servers
  const options = serversApi(url)
  const adapter = create({ ...options, targets: { ...(options['targets'] as object), scope: 'entry.pool' } })
  const pooled = { ...server, pool: 'web' }
  const odd = { ...server, name: 'api.a' }
  const other = { ...endpoint('10.0.0.9'), others: [{ address: '10.0.0.1', port: 80 }] }
  for (const servers of [[pooled, odd], [odd]]) {
    state.servers = servers
    for (const one of [endpoint('10.0.0.1'), other])
      expect(await adapter.resolve([one, endpoint('10.0.0.2')], call)).toEqual([
        {
          found: false,
          isThere: true,
          reason: 'an entry with the address 10.0.0.1:80 could not be read: targets.scope: entry.pool: No such key: pool',
        },
        { found: false, reason: expect.stringContaining('has the address 10.0.0.2:80') },
      ])
  }
  // A target that the list lacks may be the unreadable entry.
  const target = { ...A, scope: 'web' }
  const observed = async () => (await adapter.inspect([target], call)).get(target.id)
  expect(await observed()).toMatchObject({ admin: 'unknown' })
  state.servers = [{ ...pooled, address: '10.0.0.2:80' }, odd]
  expect(await observed()).toMatchObject({ admin: 'absent', moved: true, routable: true })
})

test('an entry that is answered with 404 is not absent while the list has it', async () => {
  const { url, state } = await tellServers()
  const options = serversApi(url)
  const adapter = create({ ...options, inspect: { ...(options['inspect'] as object), ...READS_ONE } })
  for (const gateway of ['404 page not found\n', '{"message": "no Route matched with those values"}']) {
    Object.assign(state, { away: /^\/servers\/a$/, gateway })
    expect((await adapter.inspect([A], call)).get(A.id)).toMatchObject({
      admin: 'unknown',
      detail: expect.stringContaining('while the list has a at 10.0.0.1:80'),
    })
    expect(await resultOf(adapter.drain([A], call))).toEqual(['retryable', expect.any(String)])
  }
})

test.each([
  { text: '404 page not found\n', admin: 'unknown', kind: 'retryable' },
  { text: '{"error": "there is no server a"}', admin: 'absent', kind: 'not-found' },
])('without a list, 404 with $text: $admin', async ({ text, admin, kind }) => {
  const { url } = await tell(() => ({ status: 404, text }))
  const options = serversApi(url)
  const inspect = { ...(options['inspect'] as object), ...READS_ONE }
  const adapter = create({ ...options, targets: { id: 'endpoint.pod' }, inspect })
  expect((await adapter.inspect([A], call)).get(A.id)).toMatchObject({ admin })
  expect(await resultOf(adapter.restore([{ target: A, prior: {} }], call))).toEqual([kind, expect.any(String)])
})

test('IPv6 addresses meet in one writing', async () => {
  const balancer = await balance({ servers: [{ name: 'a', address: '[FD00:0:0::1]:80' }] })
  expect(await targetOf(create(serversApi(balancer.adminUrl)), endpoint('fd00::1'))).toEqual({
    id: 'a@[fd00::1]:80',
    scope: 'all',
  })
})

test('a dual-stack endpoint is in the entries of both its addresses, or of the one that is there', async () => {
  const servers = [
    { name: 'a', address: '10.0.0.1:80' },
    { name: 'b', address: '[fd00::1]:80' },
    { name: 'c', address: '[fd00::2]:80' },
  ]
  const adapter = create(serversApi((await balance({ servers })).adminUrl))
  const both = (ip: string, other: string) => ({ ...endpoint(ip), others: [{ address: other, port: 80 }] })
  const found = await adapter.resolve([both('10.0.0.1', 'FD00::0:1'), both('10.0.0.2', 'fd00::2')], call)
  expect(found.map((one) => one.found && one.targets.map(({ id }) => id))).toEqual([
    ['a@10.0.0.1:80', 'b@[fd00::1]:80'],
    ['c@[fd00::2]:80'],
  ])
})

test('an endpoint is in the entry of its node too, at the port of that', async () => {
  const servers = [
    { name: 'a', address: '192.168.0.5:30080' },
    { name: 'b', address: '192.168.0.5:80' },
  ]
  const adapter = create(serversApi((await balance({ servers })).adminUrl))
  const behind = (address: string) => ({ ...endpoint('10.0.0.1'), others: [{ address, port: 30_080 }] })
  expect(await adapter.resolve([behind('192.168.0.5'), behind('192.168.0.6')], call)).toEqual([
    { found: true, targets: [{ id: 'a@192.168.0.5:30080', scope: 'all' }] },
    { found: false, reason: 'none of 2 entries has the address 10.0.0.1:80 or 192.168.0.6:30080' },
  ])
})

test('an endpoint is in each entry that has its address; one name for two of them is refused', async () => {
  const servers = [
    { pool: 'a', name: 'x', address: '10.0.0.1:80' },
    { pool: 'b', name: 'x', address: '10.0.0.1:80' },
    { pool: 'c', name: 'x', address: 'unresolved' },
  ]
  const lb = await tell(() => ({ body: { servers } }))
  const options = serversApi(lb.url)
  const targets = { ...(options['targets'] as object), scope: 'entry.pool' }
  expect(await create({ ...options, targets }).resolve([endpoint('10.0.0.1')], call)).toEqual([
    {
      found: false,
      reason: 'targets.id gives "x" for 10.0.0.1:80 and 10.0.0.1:80: one call could not tell them apart',
      isThere: true,
    },
  ])
  const adapter = create({ ...options, targets: { ...targets, id: 'entry.pool + "/" + entry.name' } })
  expect(await adapter.resolve([endpoint('10.0.0.1'), endpoint('10.0.0.2')], call)).toEqual([
    {
      found: true,
      targets: [
        { id: 'a/x@10.0.0.1:80', scope: 'a' },
        { id: 'b/x@10.0.0.1:80', scope: 'b' },
      ],
    },
    {
      found: false,
      reason:
        'none of 2 entries has the address 10.0.0.2:80; 1 more could not be read, such as: targets.address gives "unresolved", which is no host:port',
    },
  ])
})

test('ids beyond the whole numbers of JavaScript are kept exactly', async () => {
  const server = createServer((_request, response) => response.end('[{"id": 9007199254740993, "address": "10.0.0.1:80"}]'))
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  cleanups.push(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const targets = { request: { path: '/' }, id: 'string(entry.id)', address: 'entry.address' }
  expect((await targetOf(create({ ...serversApi(url), targets }), endpoint('10.0.0.1'))).id).toBe('9007199254740993@10.0.0.1:80')
})

test('an id of 64 bits that is not made text is told with the way to write it', async () => {
  const lb = await tell(() => ({ text: '[{"id": 9223372036854775807, "address": "10.0.0.1:80"}]' }))
  const targets = { request: { path: '/' }, id: 'entry.id', address: 'entry.address' }
  const [found] = await create({ ...serversApi(lb.url), targets }).resolve([endpoint('10.0.0.1')], call)
  expect(found).toMatchObject({
    reason: expect.stringContaining(
      'gives the number 9223372036854775807, which JSON does not hold exactly; write string(entry.id)',
    ),
  })
})

test.each([
  {
    body: { total: 2, items: [{}] },
    said: 'the answer to targets.request is a map (total, items), not a list',
    way: 'body.items',
  },
  { body: { data: { tags: ['a'], servers: [{}] } }, said: 'a map (data)', way: 'body.data.servers' },
  { body: { 'real-servers': [] }, said: 'a map (real-servers)', way: 'body["real-servers"]' },
])('a list inside an object is named: $way', async ({ body, said, way }) => {
  const lb = await tell(() => ({ body }))
  const { each: _, ...targets } = serversApi(lb.url)['targets'] as Record<string, unknown>
  const resolved = create({ ...serversApi(lb.url), targets }).resolve([endpoint('10.0.0.1')], call)
  await expect(resolved).rejects.toMatchObject({ kind: 'fatal', message: expect.stringContaining(said) })
  await expect(resolved).rejects.toThrow(`, not a list; name it with targets.each, such as ${way}`)
})

test('a list that goes on on another page: no pod is found in it, and none of its entries is taken for gone', async () => {
  const server = { name: 'a', address: '10.0.0.1:80', state: 'ready', weight: 1, healthy: true, inFlight: 0 }
  let next = ''
  let servers: Json = [server]
  const lb = await tell(() => ({ body: { servers, next } }))
  const adapter = create(serversApi(lb.url))
  const target = await targetOf(adapter, endpoint('10.0.0.1'))
  next = '/servers?page=2'
  await expect(adapter.resolve([endpoint('10.0.0.1')], call)).rejects.toMatchObject({
    kind: 'fatal',
    message: expect.stringContaining(
      'another page follows (body.next says so), and pages are not followed; ask for all entries at once',
    ),
  })
  const inspected = async () => (await adapter.inspect([target], call)).get(target.id)
  expect(await inspected()).toMatchObject({ admin: 'in' })
  servers = []
  expect(await inspected()).toMatchObject({ admin: 'unknown', detail: expect.stringContaining('another page follows') })
  // The complete list does not have the entry.
  next = ''
  expect(await inspected()).toMatchObject({ admin: 'absent' })
})

test.each([
  { status: 202, headers: { location: '/jobs/7' }, said: { outcome: 'pending', job: '/jobs/7' } },
  { status: 202, headers: {}, said: { outcome: 'pending', job: 'answered 202' } },
  { status: 200, headers: {}, said: { outcome: 'applied' } },
])('a change that is answered with $status is $said.outcome', async ({ status, headers, said }) => {
  const server = { name: 'a', address: '10.0.0.1:80', state: 'ready', weight: 1, healthy: true, inFlight: 0 }
  const lb = await tell(({ method }) =>
    method === 'GET' ? { body: { servers: [server] } } : { status, headers: headers as Record<string, string> },
  )
  const options = serversApi(lb.url) as Record<string, Record<string, unknown>>
  const adapter = create({ ...options, drain: { ...options['drain'], expect: [200, 202] }, capabilities: { longestJob: '7s' } })
  expect(adapter.capabilities).toMatchObject({ longestJobMs: 7_000 })
  const target = await targetOf(adapter, endpoint('10.0.0.1'))
  expect((await adapter.drain([target], call)).get(target.id)).toEqual(said)
})

test.each([
  { admin: 'entry.mode == "enabled" ? "in" : "out"', says: 'never gives "draining"' },
  { admin: '"out"', says: 'never gives "in"' },
])('an admin that never gives what drain or restore sets is refused when it is loaded: $admin', ({ admin, says }) => {
  const { inspect, ...options } = serversApi('http://127.0.0.1:1') as Record<string, Record<string, unknown>>
  const { weight: _, ...others } = inspect!
  const loaded = http.options.safeParse({ ...options, inspect: { ...others, admin } })
  expect(loaded.error?.issues).toMatchObject([{ path: ['inspect', 'admin'], message: expect.stringContaining(says) }])
})

test.each([
  { admin: 'entry.mode == "enabled" ? "in" : "draining"', of: 'all that can be out is draining' },
  { admin: 'entry.mode', of: 'what it gives is known only when it is evaluated' },
  { admin: 'entry.mode == "enabled" ? "in" : "out"', weight: 'entry.weight', of: 'weight 0 reads as draining' },
])('control: loaded, since $of', ({ admin, weight }) => {
  const { inspect, ...options } = serversApi('http://127.0.0.1:1') as Record<string, Record<string, unknown>>
  const { weight: _, ...others } = inspect!
  const read = { ...others, admin, ...(weight === undefined ? {} : { weight }) }
  expect(http.options.safeParse({ ...options, inspect: read }).success).toBe(true)
})

test('a rehearsal finds the drain or the restore that cannot be made, and sends neither', async () => {
  const server = { name: 'a', address: '10.0.0.1:80', state: 'ready', weight: 1, healthy: true, inFlight: 0 }
  const lb = await tell(() => ({ body: { servers: [server] } }))
  const options = serversApi(lb.url) as Record<string, Record<string, unknown>>
  async function rehearsed(change: Record<string, unknown>): Promise<string | undefined> {
    const adapter = create({ ...options, ...change })
    const target = await targetOf(adapter, endpoint('10.0.0.1'))
    const { prior } = (await adapter.snapshot([target], call)).get(target.id)!
    return (await adapter.rehearse!([{ target, prior }], call)).get(target.id)?.message
  }
  const restore = { ...options['restore'], body: { mode: '${prior.mode}' } }
  expect(await rehearsed({ restore })).toBe(
    'http edge: restore.body.mode: prior.mode: No such key: mode; the recorded prior is a map (state, weight); ' +
      'write an expression that fits it too, such as prior.?field.orValue("…")',
  )
  const drain = { ...options['drain'], headers: { 'If-Match': '${headers["etag"]}' } }
  expect(await rehearsed({ drain })).toContain('drain.headers.If-Match: headers["etag"]: No such key: etag')
  expect(await rehearsed({})).toBeUndefined()
  expect(lb.writes()).toEqual([])
})

test('answers that do not fit are told by field: fatal for the list, unknown for a target', async () => {
  let body: Json = { servers: 'none' }
  const lb = await tell(() => ({ body }))
  const adapter = create(serversApi(lb.url))
  await expect(adapter.resolve([], call)).rejects.toMatchObject({
    kind: 'fatal',
    message: expect.stringContaining(NO_LIST),
  })
  body = {}
  await expect(adapter.resolve([], call)).rejects.toMatchObject({
    kind: 'fatal',
    message: 'http edge: targets.each: body.servers: No such key: servers',
  })
  body = { servers: [{ name: 'a', address: '10.0.0.1:80', state: 'ready', weight: 'heavy', healthy: true }] }
  const target = { id: 'a@10.0.0.1:80', scope: 'all' }
  expect((await adapter.inspect([target], call)).get(target.id)).toEqual({
    admin: 'unknown',
    routable: false,
    inFlight: null,
    detail: 'http edge: inspect.weight gives "heavy", which is no number from 0 up',
  })
  expect(await resultOf(adapter.drain([target], call))).toEqual(['fatal', expect.stringContaining('inspect.weight')])
  body = {
    servers: [{ name: 'a', address: '10.0.0.1:80', state: 'ready', weight: 1, healthy: 'yes', inFlight: 0 }],
  }
  expect((await adapter.inspect([target], call)).get(target.id)).toMatchObject({
    detail: 'http edge: inspect.routable gives "yes", which is neither true nor false',
  })
  // An unknown health must not count as healthy.
  body = {
    servers: [{ name: 'a', address: '10.0.0.1:80', state: 'ready', weight: 1, healthy: null, inFlight: 0 }],
  }
  expect((await adapter.inspect([target], call)).get(target.id)).toMatchObject({
    admin: 'unknown',
    routable: false,
    detail: 'http edge: inspect.routable gives null, which is neither true nor false',
  })
  const options = serversApi(lb.url)
  const inspect = { ...(options['inspect'] as object), routable: 'entry.healthy != false' }
  expect((await create({ ...options, inspect }).inspect([target], call)).get(target.id)).toMatchObject({ routable: true })
  expect(lb.writes()).toEqual([])
})

test('an entry that cannot be read is not taken for gone', async () => {
  const good = { name: 'b', address: '10.0.0.2:80', state: 'ready', weight: 1, healthy: true, inFlight: 0 }
  let odd: Json = { name: 'a', address: null }
  const lb = await tell(() => ({ body: { servers: [odd, good] } }))
  const adapter = create(serversApi(lb.url))
  const [a, gone] = ['a', 'gone'].map((name) => ({ id: `${name}@10.0.0.1:80`, scope: 'all' })) as [Target, Target]
  const admins = async () => [...(await adapter.inspect([a, gone], call)).values()].map(({ admin }) => admin)
  expect(await admins()).toEqual(['unknown', 'absent'])
  odd = { address: '10.0.0.1:80' }
  expect(await admins()).toEqual(['unknown', 'unknown'])
})

test('an answer about another entry is not believed', async () => {
  const lb = await tell(() => ({ body: { name: 'b', address: '10.0.0.1:80', state: 'ready', weight: 1 } }))
  const options = serversApi(lb.url)
  const inspect = { ...(options['inspect'] as object), request: { path: '/servers/${target.id}' } }
  const target = { id: 'a@10.0.0.1:80', scope: 'all' }
  expect((await create({ ...options, inspect }).inspect([target], call)).get(target.id)).toMatchObject({
    admin: 'unknown',
    detail: 'http edge: inspect.request is answered with "b", not a',
  })
})

test('one target that is answered with 429 says when to ask again, as a list does', async () => {
  const lb = await tell(() => ({ status: 429, headers: { 'Retry-After': '7' } }))
  const options = serversApi(lb.url)
  const inspect = { ...(options['inspect'] as object), request: { path: '/servers/${target.id}' } }
  const target = { id: 'a@10.0.0.1:80', scope: 'all' }
  const error = { kind: 'throttled', retryAfterMs: 7000 }
  await expect(create({ ...options, inspect }).inspect([target], call)).rejects.toMatchObject(error)
})

test('where nothing is read back, a change goes out on a connection of its own: a kept one may be dead, and its fate unknown', async () => {
  const seen = new WeakSet()
  const server = createServer(({ socket }, response) => {
    // The server closes a used connection, as a middlebox does that has dropped an idle connection.
    if (seen.has(socket)) return void socket.destroy()
    seen.add(socket)
    response.end()
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  cleanups.push(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const [drain, restore] = ['drain', 'restore'].map((what) => ({ method: 'POST', path: `/${what}/\${target.id}` }))
  const adapter = create({ url, targets: { id: 'endpoint.pod' }, drain, restore })
  const target = await targetOf(adapter, endpoint('10.0.0.1'))
  expect(await resultOf(adapter.drain([target], call))).toBe('applied')
  expect(await resultOf(adapter.restore([{ target, prior: null }], call))).toBe('applied')
})

test('a list that is not there is fatal, not "not found"', async () => {
  const lb = await tell(() => ({ status: 404 }))
  await expect(create(serversApi(lb.url)).resolve([], call)).rejects.toMatchObject({ kind: 'fatal' })
})

test('an answer that is no JSON is told, without the secret that it echoes', async () => {
  const server = createServer((request, response) => response.end(`<html>${request.headers.authorization}</html>`))
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  cleanups.push(() => server.close())
  vi.stubEnv('EDGE_TOKEN', 'swordfish')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const adapter = create({ ...serversApi(url), auth: { bearer: { env: 'EDGE_TOKEN' } } })
  await expect(adapter.resolve([], call)).rejects.toMatchObject({
    kind: 'retryable',
    message: `http edge: GET ${url}/servers answered with something that is not JSON (no content type): <html>Bearer ***</html>`,
  })
})

test('an empty answer is told as such', async () => {
  const server = createServer((_request, response) => response.end()).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  cleanups.push(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await expect(create(serversApi(url)).resolve([], call)).rejects.toThrow(
    `http edge: GET ${url}/servers answered with nothing (no content type)`,
  )
})

test('the operation id and the fence go out; what is done already is not sent again', async () => {
  let state = 'ready'
  const lb = await tell(({ method, body }) => {
    if (method === 'PUT') state = (body as { state: string }).state
    const server = { name: 'a', address: '10.0.0.1:80', state, weight: 1, healthy: true, inFlight: null }
    return { body: { servers: [server] } }
  })
  const options = serversApi(lb.url) as Record<string, Record<string, unknown>>
  const headers = { 'Idempotency-Key': '${operation.id}', 'X-Fence': '${operation.fence}' }
  const [drain, restore] = [options['drain'], options['restore']].map((one) => ({ ...one, headers }))
  const adapter = create({ ...options, drain, restore, capabilities: { idempotency: 'client-token' } })
  expect(adapter.capabilities).toMatchObject({ guarantee: 'G2' })
  const target = { id: 'a@10.0.0.1:80', scope: 'all' }
  const withId = effectCall({ operationIds: new Map([[target.id, 'f00d']]), fence: 12 })
  expect(await resultOf(adapter.drain([target], withId))).toBe('applied')
  expect(await resultOf(adapter.drain([target], withId))).toBe('applied')
  expect(lb.writes().map(({ headers: sent }) => [sent['idempotency-key'], sent['x-fence']])).toEqual([['f00d', '12']])
  expect((await adapter.inspect([target], call)).get(target.id)).toMatchObject({ admin: 'draining', inFlight: null })
})

test('with versions each call names the one that it rests on, and is sent also where nothing would change', async () => {
  let version = 1
  let state = 'ready'
  const lb = await tell(({ method, headers, body }) => {
    if (method === 'PUT') {
      if (headers['if-match'] !== `"${version}"`) return { status: 412 }
      version += 1
      state = (body as { state: string }).state
    }
    return {
      headers: { etag: `"${version}"` },
      body: { name: 'a', address: '10.0.0.1:80', state, weight: 1, healthy: true, inFlight: 0 },
    }
  })
  const options = serversApi(lb.url) as Record<string, Record<string, unknown>>
  const headers = { 'If-Match': '${headers.etag}' }
  const [drain, restore] = [options['drain'], options['restore']].map((one) => ({ ...one, headers }))
  const inspect = { ...options['inspect'], request: { path: '/servers/${target.id}' } }
  const adapter = create({ ...options, inspect, drain, restore, capabilities: { idempotency: 'cas' } })
  expect(adapter.capabilities).toMatchObject({ guarantee: 'G3' })
  const target = { id: 'a@10.0.0.1:80', scope: 'all' }
  const { prior } = (await adapter.snapshot([target], call)).get(target.id)!
  expect(await resultOf(adapter.drain([target], call))).toBe('applied')
  expect(await resultOf(adapter.drain([target], call))).toBe('applied')
  expect(await resultOf(adapter.restore([{ target, prior }], call))).toBe('applied')
  expect(await resultOf(adapter.restore([{ target, prior }], call))).toBe('applied')
  expect(lb.writes().map(({ headers: sent }) => sent['if-match'])).toEqual(['"1"', '"2"', '"3"', '"4"'])
  // Another writer changes the entry between the read and the write.
  const late = adapter.drain(
    [target],
    effectCall({ assertLive: () => void (lb.calls.at(-1)?.method === 'GET' && (version += 1)) }),
  )
  expect(await resultOf(late)).toEqual(['conflict', expect.stringContaining('answered 412')])
})

test('without inspect it is a hook that is believed: G0, by the pod’s own address', async () => {
  const lb = await tell(() => ({ status: 204 }))
  const effect = (path: string) => ({ method: 'POST', path: `${path}?server=\${target.address}` })
  const adapter = create({ url: lb.url, targets: { id: 'endpoint.pod' }, drain: effect('/drain'), restore: effect('/restore') })
  expect(adapter.capabilities).toMatchObject({ guarantee: 'G0', inspect: 'none', inFlight: 'none' })
  const target = await targetOf(adapter, endpoint('10.0.0.1'))
  expect(target.id).toBe('web-0@10.0.0.1:80')
  expect((await adapter.snapshot([target], call)).get(target.id)).toEqual({ prior: null, inRotation: true })
  await adapter.drain([target], call)
  await adapter.restore([{ target, prior: null }], call)
  expect(lb.calls.map(({ method, url }) => `${method} ${url}`)).toEqual([
    'POST /drain?server=10.0.0.1%3A80',
    'POST /restore?server=10.0.0.1%3A80',
  ])
})

test('an id from elsewhere is fatal', async () => {
  const adapter = create(serversApi('http://127.0.0.1:1'))
  expect(await resultOf(adapter.drain([{ id: 'web/a', scope: 'all' }], call))).toEqual([
    'fatal',
    'http edge: web/a is not an id of this adapter',
  ])
})

test('the prior state has one form, whatever the order of the answer is', async () => {
  let entry: Record<string, Json> = { name: 'a', address: '10.0.0.1:80', tags: { x: 1, y: 2 } }
  const lb = await tell(() => ({ body: [entry] }))
  const targets = { request: { path: '/' }, id: 'entry.name', address: 'entry.address' }
  const restore = { method: 'PUT', path: '/', body: '${prior}' }
  const adapter = create({
    ...serversApi(lb.url),
    targets,
    inspect: { admin: 'entry.name == "drained" ? "draining" : "in"', prior: 'entry.tags' },
    restore,
  })
  const target = { id: 'a@10.0.0.1:80', scope: 'all' }
  const snapshot = async () => JSON.stringify((await adapter.snapshot([target], call)).get(target.id))
  const first = await snapshot()
  entry = { ...entry, tags: { y: 2, x: 1 } }
  expect(await snapshot()).toBe(first)
})

test('a message that quotes a value of an answer is short, and has no secret in it', async () => {
  vi.stubEnv('EDGE_TOKEN', 's3cr3t-of-the-edge')
  const entry = { name: 'a', address: '10.0.0.1:80', state: 'ready', healthy: true, weight: 1, inFlight: 0 }
  let said: Record<string, unknown> = entry
  const { url } = await tell(() => ({ body: { servers: [said] } }))
  const options = serversApi(url)
  const inspect = { ...(options['inspect'] as object), admin: 'entry.state' }
  const adapter = create({ ...options, inspect, auth: { bearer: { env: 'EDGE_TOKEN' } } })
  const target = await targetOf(adapter, endpoint('10.0.0.1'))
  const detailOf = async (over: Record<string, unknown>) => {
    said = { ...entry, ...over }
    return (await adapter.inspect([target], call)).get(target.id)!.detail!
  }
  const echo = 'Bearer s3cr3t-of-the-edge'
  const messages = [await detailOf({ state: echo }), await detailOf({ state: 'in', inFlight: echo })]
  said = { ...entry, address: echo }
  const [lost] = await adapter.resolve([endpoint('10.0.0.1')], call)
  if (lost?.found === false) messages.push(lost.reason)
  expect(messages).toHaveLength(3)
  for (const message of messages) expect(message).toContain('gives "Bearer ***"')
  expect((await detailOf({ state: 'x'.repeat(1_000_000) })).length).toBeLessThan(400)
})

test('an entry that gives back a secret in what is named or kept is not understood, and the secret is not shown', async () => {
  vi.stubEnv('EDGE_TOKEN', 's3cr3t-of-the-edge')
  const entry = { name: 'a', address: '10.0.0.1:80', state: 'ready', healthy: true, weight: 1, inFlight: 0, zone: 'z' }
  let body = { servers: [entry] }
  const { url } = await tell(() => ({ body }))
  const options = serversApi(url)
  const targets = { ...(options['targets'] as object), scope: 'entry.zone' }
  const adapter = create({ ...options, targets, auth: { bearer: { env: 'EDGE_TOKEN' } } })
  const target = await targetOf(adapter, endpoint('10.0.0.1'))
  const echo = 'Bearer s3cr3t-of-the-edge'
  for (const over of [{ name: echo }, { address: 's3cr3t-of-the-edge:80' }, { zone: echo }]) {
    body = { servers: [{ ...entry, ...over }] }
    const [resolution] = await adapter.resolve([endpoint('10.0.0.1')], call)
    expect(resolution).toMatchObject({ found: false, reason: expect.stringContaining('***') })
    expect(JSON.stringify(resolution)).not.toContain('s3cr3t')
  }
  body = { servers: [{ ...entry, state: echo, weight: 0 }] }
  await expect(adapter.snapshot([target], call)).rejects.toMatchObject({
    kind: 'fatal',
    message: expect.stringMatching(/^http edge: inspect\.prior gives .*Bearer \*\*\*.*, which has a secret in it/),
  })
})

test('a short secret is no echo where it stands in a name by chance', async () => {
  vi.stubEnv('EDGE_TOKEN', 'web')
  const balancer = await balance({ servers: [{ name: 'web-0', address: '10.0.0.1:80' }] })
  const adapter = create({ ...serversApi(balancer.adminUrl), auth: { bearer: { env: 'EDGE_TOKEN' } } })
  expect(await targetOf(adapter, endpoint('10.0.0.1'))).toMatchObject({ id: 'web-0@10.0.0.1:80' })
})

test('all entries are listed, with what the list says of them', async () => {
  const servers = [
    { name: 'a', address: '10.0.0.1:80' },
    { name: 'b', address: '[fd00::1]:80' },
  ]
  const { adminUrl } = await balance({ servers })
  await fetch(`${adminUrl}/servers/b`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ state: 'maint' }),
  })
  expect(await create(serversApi(adminUrl)).entries!(call)).toEqual([
    { id: 'a@10.0.0.1:80', address: '10.0.0.1', port: 80, admin: 'in' },
    { id: 'b@[fd00::1]:80', address: 'fd00::1', port: 80, admin: 'out' },
  ])
})

test('without a list there are no entries to list; where each has a request of its own, the list says addresses alone', async () => {
  const { adminUrl } = await balance({ servers: [{ name: 'a', address: '10.0.0.1:80' }] })
  const api = serversApi(adminUrl) as { inspect: object; targets: object }
  const own = { ...api.inspect, request: { path: '/servers/${target.id}' } }
  expect(await create({ ...api, inspect: own }).entries!(call)).toEqual([{ id: 'a@10.0.0.1:80', address: '10.0.0.1', port: 80 }])
  const { entries } = create({ ...api, targets: { id: 'endpoint.pod' }, inspect: own })
  expect(entries).toBeUndefined()
})
