/** Tests of the adapter haproxy beyond the conformance kit, on a real HAProxy. */
import { createSocket } from 'node:dgram'
import { type AddressInfo, connect, createServer } from 'node:net'
import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import { describeOnEachHaproxy } from '../../test/haproxy/versions.ts'
import {
  askSocket,
  type HaproxyOptions as ProcessOptions,
  type HaproxyProcess,
  startHaproxy,
  waitUntil,
} from '../conformance/beds/haproxy-process.ts'
import { createTraffic, type Pods, startPods } from '../conformance/beds/pods.ts'
import type { Adapter, EffectCall, EffectResult, Endpoint, Target } from '../contract.ts'
import { haproxy } from './index.ts'
import type { HaproxyOptions } from './options.ts'
import { parseCounts } from './stats.ts'

/** The program for the tests of a block. */
let program: string
const call: EffectCall = { deadlineMs: 20_000, assertLive: () => {}, operationIds: new Map(), fence: 1 }
const cleanups: (() => unknown)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

function endpoint(index: number, over: Partial<Endpoint> = {}): Endpoint {
  return { uid: `uid-${index}`, pod: `web-${index}`, address: '127.0.0.2', port: index + 1, ...over }
}

async function start(options: ProcessOptions): Promise<HaproxyProcess> {
  const process = await startHaproxy({ program, ...options })
  cleanups.push(() => process.stop())
  return process
}

async function startWithPods(options: Partial<ProcessOptions> = {}): Promise<{ process: HaproxyProcess; pods: Pods }> {
  const pods = await startPods(2)
  cleanups.push(() => pods.close())
  return { pods, process: await start({ endpoints: pods.endpoints, ...options }) }
}

function create(options: Omit<HaproxyOptions, 'backend'>): Adapter {
  const adapter = haproxy.create(haproxy.options.parse({ ...options, backend: 'web' }), { name: 'edge' })
  cleanups.push(() => adapter.close())
  return adapter
}

async function targetOf(adapter: Adapter, of: Endpoint): Promise<Target> {
  const [resolution] = await adapter.resolve([of], call)
  if (resolution?.found !== true) throw new Error(resolution?.reason)
  return resolution.targets[0]!
}

async function observe(adapter: Adapter, target: Target) {
  return (await adapter.inspect([target], call)).get(target.id)!
}

/** An agent that tells HAProxy the weight of a server. */
async function startAgent(first: string): Promise<{ check: string; say(next: string): void }> {
  let says = first
  // HAProxy resets the connection after it has read the line.
  const agent = createServer((client) => client.on('error', () => {}).end(`${says}\n`)).listen(0, '127.0.0.1')
  cleanups.push(() => agent.close())
  await new Promise((resolve) => agent.once('listening', resolve))
  const { port } = agent.address() as AddressInfo
  return {
    check: `agent-check agent-port ${port} agent-addr 127.0.0.1 agent-inter 50ms`,
    say(next) {
      says = next
    },
  }
}

const DNS_A = 1
const DNS_SRV = 33

function dnsName(name: string): Buffer {
  return Buffer.from(
    `${name
      .split('.')
      .map((label) => String.fromCharCode(label.length) + label)
      .join('')}\0`,
    'latin1',
  )
}

/** A DNS server with addresses by host name, and hosts by the name of an SRV record. Any other name gets NXDOMAIN. */
async function startDns(hosts: Record<string, string[]>, records: Record<string, string[]> = {}): Promise<string[]> {
  const socket = createSocket('udp4')
  cleanups.push(() => new Promise<void>((resolve) => void socket.close(resolve)))
  const dataOf = (name: string, type: number): Buffer[] => {
    if (type === DNS_A) return (hosts[name] ?? []).map((address) => Buffer.from(address.split('.').map(Number)))
    if (type !== DNS_SRV) return []
    // The numbers are priority 0, weight 1 and port 8080.
    return (records[name] ?? []).map((host) => Buffer.concat([Buffer.from([0, 0, 0, 1, 0x1f, 0x90]), dnsName(host)]))
  }
  socket.on('message', (query, { port, address }) => {
    const nameEnd = query.indexOf(0, 12)
    const labels = query.toString('latin1', 12, nameEnd).toLowerCase()
    const type = query.readUInt16BE(nameEnd + 1)
    const asked = [...Object.keys(hosts), ...Object.keys(records)].find(
      (name) => dnsName(name).toString('latin1') === `${labels}\0`,
    )
    const answers = dataOf(asked ?? '', type).map((data) => {
      // The head has the name of the query, class IN, and a TTL of one second.
      const head = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 1, 0, data.length])
      return Buffer.concat([head, data])
    })
    const reply = Buffer.from(query.subarray(0, nameEnd + 5))
    reply.writeUInt16BE(answers.length > 0 ? 0x8180 : 0x8183, 2)
    for (const [at, count] of [1, answers.length, 0, 0].entries()) reply.writeUInt16BE(count, 4 + 2 * at)
    socket.send(Buffer.concat([reply, ...answers]), port, address)
  })
  await new Promise<void>((resolve) => void socket.bind(0, '127.0.0.1', resolve))
  const times = ['timeout resolve 50ms', 'timeout retry 50ms', 'hold valid 10ms', 'hold nx 10ms']
  return ['resolvers dns', `nameserver n 127.0.0.1:${socket.address().port}`, ...times]
}

const BY_DNS = 'resolvers dns resolve-prefer ipv4 init-addr none'

/** The name of the server with that address. Waits until a server has it. */
async function serverAt(process: HaproxyProcess, address: string): Promise<string> {
  const row = new RegExp(` (\\S+) ${address.replaceAll('.', '\\.')} `)
  const find = async () => row.exec(await process.ask('show servers state web'))?.[1]
  await waitUntil(async () => (await find()) !== undefined, `a server has the address ${address}`)
  return (await find())!
}

/** The `srv_admin_state` of the server. 8 is a drain. */
async function adminState(process: HaproxyProcess, server: string): Promise<string | undefined> {
  return new RegExp(` ${server} \\S+ \\d (\\d+) `).exec(await process.ask('show servers state web'))?.[1]
}

/** Changes the address of a server. Since 3.0, HAProxy answers before its state shows the new address. */
async function repoint(process: HaproxyProcess, server: string, address: string, port = 1): Promise<void> {
  await process.ask(`set server web/${server} addr ${address} port ${port}`)
  // HAProxy 3 changes the address after its answer.
  const isThere = async (): Promise<boolean> => {
    const [, header = '', ...lines] = (await process.ask('show servers state web')).split('\n')
    const columns = header.replace(/^# /, '').split(' ')
    const of = (line: string, column: string): string | undefined => line.split(' ')[columns.indexOf(column)]
    const entry = lines.find((line) => of(line, 'srv_name') === server)
    return entry !== undefined && of(entry, 'srv_addr') === address && of(entry, 'srv_port') === String(port)
  }
  await vi.waitUntil(isThere, { timeout: 10_000, interval: 10 })
}

await describeOnEachHaproxy((version) => {
  beforeAll(() => {
    program = version
  })

  test('no connection outlives its call, so a reload cannot leave one with the old worker', async () => {
    const process = await start({ endpoints: [endpoint(0)] })
    const adapter = create({ socket: process.adminSocket })
    const target = await targetOf(adapter, endpoint(0))
    await adapter.drain([target], call)
    await process.reload()
    expect((await observe(adapter, target)).admin).toBe('in')
    await adapter.drain([target], call)
    expect(await adminState(process, 'w0')).toBe('8')
    const isAlone = async () => !/^# old workers\n\d/m.test(await askSocket(process.masterSocket, 'show proc'))
    await waitUntil(isAlone, 'nothing keeps the old worker from its end')
  })

  test('a socket that takes no changes is refused with the first question, before anything depends on it', async () => {
    const process = await start({ endpoints: [endpoint(0)] })
    const adapter = create({ socket: process.operatorSocket })
    await expect(adapter.resolve([endpoint(0)], call)).rejects.toMatchObject({
      kind: 'fatal',
      message: expect.stringContaining(`stats socket ${process.operatorSocket} level admin`),
    })
  })

  test('a stats socket in the place of the master socket is refused with the first question: it knows no old workers', async () => {
    const process = await start({ endpoints: [endpoint(0)] })
    const adapter = create({ socket: process.adminSocket, master: process.operatorSocket })
    await expect(adapter.resolve([endpoint(0)], call)).rejects.toMatchObject({
      kind: 'fatal',
      message: expect.stringContaining(`${process.operatorSocket} is not the socket of a master process`),
    })
  })

  test('with the master socket, requests on the old worker are counted until they end', async () => {
    const { process, pods } = await startWithPods()
    const held = await createTraffic({ socketPath: process.front }, pods).hold()
    const of = pods.endpoints.find(({ uid }) => uid === held.uid)!
    await process.reload()
    const blind = create({ socket: process.adminSocket })
    const seeing = create({ socket: process.adminSocket, master: process.masterSocket })
    const target = await targetOf(blind, of)
    // The master does not listen for a moment after a reload. The count is then an error, never 0.
    await waitUntil(async () => (await observe(seeing, target)).inFlight === 1, 'the old worker is counted')
    expect((await observe(blind, target)).inFlight).toBe(0)
    expect(await held.release()).toBe(true)
    await waitUntil(async () => (await observe(seeing, target)).inFlight === 0, 'the request has ended')
  })

  test('requests on the old worker are counted for their pod, though the reload gave its server another name', async () => {
    const { process, pods } = await startWithPods()
    const held = await createTraffic({ socketPath: process.front }, pods).hold()
    const own = pods.endpoints.find(({ uid }) => uid === held.uid)!
    const other = pods.endpoints.find(({ uid }) => uid !== held.uid)!
    // The two servers exchange their names, as a controller does that assigns slots.
    await process.reload((config) => config.replaceAll(/server w([01])/g, (_, slot) => `server w${1 - Number(slot)}`))
    const adapter = create({ socket: process.adminSocket, master: process.masterSocket })
    const targets = [await targetOf(adapter, own), await targetOf(adapter, other)]
    const counts = async () => [...(await adapter.inspect(targets, call)).values()].map(({ inFlight }) => inFlight)
    // The master does not listen for a moment after a reload.
    await waitUntil(async () => `${await counts()}` === '1,0', 'the old worker is counted')
    expect(await held.release()).toBe(true)
    await waitUntil(async () => (await counts())[0] === 0, 'the request has ended')
  })

  // Two HAProxy instances under one name in the config must not be mixed up.
  test('what a target is of is its socket, however many the config names', async () => {
    const [first, second] = [await start({ endpoints: [endpoint(0)] }), await start({ endpoints: [endpoint(0)] })]
    const one = create({ socket: first.adminSocket })
    const several = create({ sockets: [second.adminSocket, first.adminSocket] })
    const target = await targetOf(one, endpoint(0))
    expect([one, several].map((adapter) => adapter.reaches!(target))).toEqual([true, true])
    expect(create({ socket: second.adminSocket }).reaches!(target)).toBe(false)
    // The new adapter continues with the id from before, and drains no server of the other instance.
    await several.drain([target], call)
    expect(await Promise.all([first, second].map((process) => adminState(process, 'w0')))).toEqual(['8', '0'])
    const [found] = await several.resolve([endpoint(0)], call)
    const again = found?.found === true ? found.targets.find(({ scope }) => scope === target.scope)! : target
    expect(several.entryOf!(again)).toBe(several.entryOf!(target))
  })

  test('several instances: a pod is drained in each, and must be in each', async () => {
    const first = await start({ endpoints: [endpoint(0), endpoint(1)] })
    const second = await start({ endpoints: [endpoint(0)] })
    const sockets = [first.adminSocket, second.adminSocket]
    const adapter = create({ sockets })
    const [both, one] = await adapter.resolve([endpoint(0), endpoint(1)], call)
    const targets = both?.found === true ? both.targets : []
    expect(targets).toEqual(sockets.map((socket) => ({ id: `${socket}/web/w0@127.0.0.2:1`, scope: `${socket}/web` })))
    expect(one).toEqual({
      found: false,
      reason: `no server of backend web has the address 127.0.0.2:2 in ${second.adminSocket} (1 servers)`,
      isThere: true,
    })
    await adapter.drain(targets, call)
    for (const process of [first, second]) expect(await adminState(process, 'w0')).toBe('8')
    const priors = targets.map((target) => ({ target, prior: { state: 'ready' } }))
    await second.stop()
    const results = await adapter.restore(priors, call)
    expect([...results.values()]).toMatchObject([{ outcome: 'applied' }, { outcome: 'failed', error: { kind: 'retryable' } }])
    const [here, gone] = [...(await adapter.inspect(targets, call)).values()]
    expect([here?.admin, gone?.admin, gone?.inFlight]).toEqual(['in', 'unknown', null])
  })

  test('two servers with one address are refused by name', async () => {
    const process = await start({ endpoints: [endpoint(0), endpoint(0)] })
    const [resolution] = await create({ socket: process.adminSocket }).resolve([endpoint(0)], call)
    expect(resolution).toEqual({
      found: false,
      reason: `web/w0 and web/w1 of ${process.adminSocket} both have the address 127.0.0.2:1`,
      isThere: true,
    })
  })

  test('a missing backend is named, with those that there are', async () => {
    const process = await start({ endpoints: [endpoint(0)] })
    const adapter = haproxy.create({ socket: process.adminSocket, backend: 'wbe' }, { name: 'edge' })
    const message = `haproxy edge: ${process.adminSocket} has no backend wbe; it has web`
    await expect(adapter.resolve([endpoint(0)], call)).rejects.toMatchObject({ kind: 'fatal', message })
  })

  test('IPv6 servers are found however the address is written', async () => {
    const process = await start({ endpoints: [endpoint(0, { address: 'fd00::1' })] })
    const adapter = create({ socket: process.adminSocket })
    const target = await targetOf(adapter, endpoint(0, { address: 'fd00:0::0001' }))
    expect(target.id).toBe('web/w0@[fd00::1]:1')
    // Old workers use the same form of the address.
    expect(parseCounts(await process.ask('show stat'), 'web').map(({ address }) => address)).toContain('[fd00::1]:1')
    await adapter.drain([target], call)
    expect((await observe(adapter, target)).admin).toBe('draining')
  })

  test('a dual-stack pod is served by the servers of both its addresses', async () => {
    const process = await start({ endpoints: [endpoint(0), endpoint(0, { address: 'fd00::1' })] })
    const [found] = await create({ socket: process.adminSocket }).resolve(
      [{ ...endpoint(0), others: [{ address: 'fd00::1', port: endpoint(0).port }] }],
      call,
    )
    expect(found).toMatchObject({ found: true, targets: [{ id: 'web/w0@127.0.0.2:1' }, { id: 'web/w1@[fd00::1]:1' }] })
  })

  test('a server that was given another address belongs to another pod, and is left alone', async () => {
    const process = await start({ endpoints: [endpoint(0)] })
    const adapter = create({ socket: process.adminSocket })
    const target = await targetOf(adapter, endpoint(0))
    await adapter.drain([target], call)
    await repoint(process, 'w0', '127.0.0.9')
    const results = await adapter.restore([{ target, prior: { state: 'ready' } }], call)
    expect(results.get(target.id)).toMatchObject({ error: { kind: 'not-found' } })
    expect(await adminState(process, 'w0')).toBe('8')
    expect(await observe(adapter, target)).toMatchObject({ admin: 'absent', moved: true, routable: false })
  })

  test('a server that a reload gave another name is the same one: seen to get requests, drained, and put back', async () => {
    const process = await start({ endpoints: [endpoint(0), endpoint(1)], checked: 0 })
    const adapter = create({ socket: process.adminSocket })
    const target = await targetOf(adapter, endpoint(0))
    await process.ask('set server web/w0 weight 7')
    const { prior } = (await adapter.snapshot([target], call)).get(target.id)!
    await adapter.drain([target], call)
    await process.reload((config) => config.replace('server w0', 'server slot5'))
    expect(await observe(adapter, target)).toMatchObject({ admin: 'in', routable: true, inFlight: 0, detail: 'slot5: ready' })
    expect((await adapter.snapshot([target], call)).get(target.id)).toMatchObject({ inRotation: true })
    expect((await adapter.drain([target], call)).get(target.id)).toEqual({ outcome: 'applied' })
    expect(await adminState(process, 'slot5')).toBe('8')
    expect(await observe(adapter, target)).toMatchObject({ admin: 'draining', routable: false, inFlight: 0 })
    expect((await adapter.restore([{ target, prior }], call)).get(target.id)).toMatchObject({ outcome: 'applied' })
    expect(await adminState(process, 'slot5')).toBe('0')
    expect((await adapter.snapshot([target], call)).get(target.id)).toEqual({ prior, inRotation: true, weight: 7 })
    expect(await adminState(process, 'w1')).toBe('0')
  })

  test('slots that change places: each target is where its address is, whatever its name was', async () => {
    const process = await start({ endpoints: [endpoint(0), endpoint(1)], checked: 0 })
    const adapter = create({ socket: process.adminSocket })
    const target = await targetOf(adapter, endpoint(0))
    await adapter.drain([target], call)
    await process.reload((config) => config.replaceAll(/server w([01])/g, (_, slot) => `server w${1 - Number(slot)}`))
    expect(await observe(adapter, target)).toMatchObject({ admin: 'in', routable: true, detail: 'w1: ready' })
    await adapter.drain([target], call)
    expect([await adminState(process, 'w0'), await adminState(process, 'w1')]).toEqual(['0', '8'])
  })

  test('requests under way are counted at the server that has the address', async () => {
    const { process, pods } = await startWithPods()
    const adapter = create({ socket: process.adminSocket })
    const targets = await Promise.all(pods.endpoints.map((of) => targetOf(adapter, of)))
    await process.reload((config) => config.replaceAll(/server w([01])/g, 'server slot$1'))
    const held = await createTraffic({ socketPath: process.front }, pods).hold()
    const target = targets[pods.endpoints.findIndex(({ uid }) => uid === held.uid)]!
    await adapter.drain([target], call)
    expect(await observe(adapter, target)).toMatchObject({ admin: 'draining', inFlight: 1 })
    expect(await held.release()).toBe(true)
    await waitUntil(async () => (await observe(adapter, target)).inFlight === 0, 'the request has ended')
  })

  test.each([
    {
      change: 'one more server has its address',
      shared: 'server w0 127.0.0.2:1\n  server other 127.0.0.2:1',
      names: ['w0', 'other'],
    },
    { change: 'two have it in its place', shared: 'server x 127.0.0.2:1\n  server y 127.0.0.2:1', names: ['x', 'y'] },
  ])('$change: it is not known, and left alone', async ({ shared, names }) => {
    const process = await start({ endpoints: [endpoint(0)], checked: 0 })
    const adapter = create({ socket: process.adminSocket })
    const target = await targetOf(adapter, endpoint(0))
    await adapter.drain([target], call)
    await process.reload((config) => config.replace('server w0 127.0.0.2:1', shared))
    const message = expect.stringContaining(`web/${names[0]} and web/${names[1]} of ${process.adminSocket} both have the address`)
    expect(await observe(adapter, target)).toMatchObject({ admin: 'unknown', routable: false, inFlight: null, detail: message })
    await expect(adapter.snapshot([target], call)).rejects.toMatchObject({ kind: 'conflict', message })
    const error = { kind: 'conflict', message }
    expect((await adapter.drain([target], call)).get(target.id)).toMatchObject({ outcome: 'failed', error })
    const restored = await adapter.restore([{ target, prior: { state: 'ready' } }], call)
    expect(restored.get(target.id)).toMatchObject({ outcome: 'failed', error })
    for (const name of names) expect(await adminState(process, name)).toBe('0')
  })

  test('several instances: one of them has given the server another name', async () => {
    const first = await start({ endpoints: [endpoint(0)], checked: 0 })
    const second = await start({ endpoints: [endpoint(0)], checked: 0 })
    const adapter = create({ sockets: [first.adminSocket, second.adminSocket] })
    const [resolution] = await adapter.resolve([endpoint(0)], call)
    const targets = resolution?.found === true ? resolution.targets : []
    await adapter.drain(targets, call)
    await second.reload((config) => config.replace('server w0', 'server slot5'))
    const admins = async () => [...(await adapter.inspect(targets, call)).values()].map(({ admin }) => admin)
    expect(await admins()).toEqual(['draining', 'in'])
    await adapter.drain(targets, call)
    expect(await admins()).toEqual(['draining', 'draining'])
    expect(await adminState(second, 'slot5')).toBe('8')
  })

  test('an entry that was repointed is found at the new address, also while another server has its old one', async () => {
    const process = await start({ endpoints: [endpoint(0), endpoint(1)], checked: 0 })
    const adapter = create({ socket: process.adminSocket })
    const target = await targetOf(adapter, endpoint(0))
    await adapter.drain([target], call)
    await repoint(process, 'w0', '127.0.0.9')
    const moved = await targetOf(adapter, endpoint(0, { address: '127.0.0.9' }))
    expect(adapter.entryOf!(moved)).toBe(adapter.entryOf!(target))
    expect(await observe(adapter, moved)).toMatchObject({ admin: 'draining' })
    expect(await observe(adapter, target)).toMatchObject({ admin: 'absent', moved: true })
    await repoint(process, 'w1', '127.0.0.2')
    expect(await observe(adapter, target)).toMatchObject({ admin: 'in', detail: 'w1: ready' })
    expect(await observe(adapter, moved)).toMatchObject({ admin: 'draining', detail: 'w0: drain' })
  })

  test('a server that is there no more has not moved', async () => {
    const process = await start({ endpoints: [endpoint(0)] })
    const adapter = create({ socket: process.adminSocket })
    const { id, scope } = await targetOf(adapter, endpoint(0))
    const removed = { id: id.replace('w0@127.0.0.2', 'w9@127.0.0.3'), scope }
    expect(await observe(adapter, removed)).toMatchObject({ admin: 'absent', moved: false, inFlight: null })
  })

  test('a server that is disabled in the config, and one that tracks another, are read as they are', async () => {
    const moreLines = ['server off 127.0.0.3:1 disabled', 'server follower 127.0.0.3:2 track w0']
    const process = await start({ endpoints: [endpoint(0)], moreLines })
    const adapter = create({ socket: process.adminSocket })
    const off = await targetOf(adapter, endpoint(0, { address: '127.0.0.3', port: 1 }))
    const follower = await targetOf(adapter, endpoint(0, { address: '127.0.0.3', port: 2 }))
    expect((await adapter.snapshot([off], call)).get(off.id)).toEqual({ prior: { state: 'maint' }, inRotation: false, weight: 1 })
    await process.ask('set server web/off state ready')
    expect((await adapter.snapshot([off], call)).get(off.id)).toMatchObject({ prior: { state: 'ready' }, inRotation: true })
    await process.ask('set server web/w0 state drain')
    expect((await adapter.snapshot([follower], call)).get(follower.id)).toEqual({
      prior: { state: 'ready' },
      inRotation: false,
      weight: 1,
    })
    expect(await observe(adapter, follower)).toMatchObject({
      admin: 'draining',
      detail: 'follower: drain of the server that it tracks, down',
    })
  })

  // The drain makes HAProxy show the flag of the host name.
  test('a server whose host name was set at run time is in rotation again once it is put back', async () => {
    const moreLines = [
      'server named a.example:1 resolvers silent init-addr 127.0.0.3',
      'resolvers silent',
      'nameserver n 127.0.0.1:1',
    ]
    const process = await start({ endpoints: [endpoint(0)], moreLines })
    await process.ask('set server web/named fqdn b.example')
    const adapter = create({ socket: process.adminSocket })
    const target = await targetOf(adapter, endpoint(0, { address: '127.0.0.3' }))
    await adapter.drain([target], call)
    expect(await adminState(process, 'named')).toBe('72')
    expect((await observe(adapter, target)).admin).toBe('draining')
    await adapter.restore([{ target, prior: { state: 'ready' } }], call)
    expect(await adminState(process, 'named')).toBe('64')
    expect(await observe(adapter, target)).toMatchObject({ admin: 'in', routable: true })
    expect((await adapter.snapshot([target], call)).get(target.id)).toMatchObject({ inRotation: true })
  })

  test('slots that DNS deals out are refused before a drain: another pod would get the one that is drained', async () => {
    const hosts = { 'web.local': ['127.0.0.11', '127.0.0.12'] }
    const process = await start({
      endpoints: [],
      moreLines: [`server-template d 1-4 web.local:8080 ${BY_DNS}`, ...(await startDns(hosts))],
    })
    const slot = await serverAt(process, '127.0.0.11')
    const of = endpoint(0, { address: '127.0.0.11', port: 8080 })
    const [resolution] = await create({ socket: process.adminSocket }).resolve([of], call)
    expect(resolution).toEqual({
      found: false,
      reason:
        `web/${slot} of ${process.adminSocket} gets its address by DNS from web.local, as other servers do: while its pod restarts, ` +
        `DNS may hand it to another pod, drained as it is; write a server for each pod, with the pod's address or a DNS name of its own`,
      isThere: true,
    })
    // These lines show the fault that the refusal prevents.
    await process.ask(`set server web/${slot} state drain`)
    hosts['web.local'] = ['127.0.0.12']
    await waitUntil(async () => (await adminState(process, slot)) === '40', 'its pod is not ready, and not in DNS')
    hosts['web.local'] = ['127.0.0.12', '127.0.0.13', '127.0.0.14', '127.0.0.15']
    await waitUntil(async () => (await adminState(process, slot)) === '8', 'another pod has it')
  })

  test('slots of an SRV record are refused as well', async () => {
    const lines = await startDns({ 'web-0.local': ['127.0.0.11'] }, { '_http._tcp.web.local': ['web-0.local'] })
    const process = await start({
      endpoints: [],
      moreLines: [`server-template d 1 _http._tcp.web.local ${BY_DNS}`, ...lines],
    })
    expect(await serverAt(process, '127.0.0.11')).toBe('d1')
    const of = endpoint(0, { address: '127.0.0.11', port: 8080 })
    expect(await create({ socket: process.adminSocket }).resolve([of], call)).toEqual([
      { found: false, reason: expect.stringContaining('by DNS from the SRV record _http._tcp.web.local: '), isThere: true },
    ])
  })

  test('a server with a DNS name of its own keeps its pod: out while DNS does not have it, and put back once it has', async () => {
    const hosts = { 'web-0.local': ['127.0.0.11'], 'web-1.local': ['127.0.0.12'] }
    const moreLines = ['web-0', 'web-1'].map((name) => `server ${name} ${name}.local:8080 ${BY_DNS}`)
    const process = await start({ endpoints: [], moreLines: [...moreLines, ...(await startDns(hosts))] })
    expect([await serverAt(process, '127.0.0.11'), await serverAt(process, '127.0.0.12')]).toEqual(['web-0', 'web-1'])
    const adapter = create({ socket: process.adminSocket })
    const target = await targetOf(adapter, endpoint(0, { address: '127.0.0.11', port: 8080 }))
    const { prior } = (await adapter.snapshot([target], call)).get(target.id)!
    await adapter.drain([target], call)
    hosts['web-0.local'] = []
    await waitUntil(async () => (await adminState(process, 'web-0')) === '40', 'its pod is not in DNS')
    expect(await observe(adapter, target)).toMatchObject({ admin: 'absent', moved: true, routable: false })
    hosts['web-0.local'] = ['127.0.0.11']
    expect(await serverAt(process, '127.0.0.11')).toBe('web-0')
    expect(await observe(adapter, target)).toMatchObject({ admin: 'draining', routable: false })
    expect((await adapter.restore([{ target, prior }], call)).get(target.id)).toEqual({ outcome: 'applied' })
    expect(await observe(adapter, target)).toMatchObject({ admin: 'in', routable: true })
  })

  test('a changed weight in the config survives, as the prior state does not hold the old one', async () => {
    const process = await start({ endpoints: [endpoint(0)], moreLines: ['server heavy 127.0.0.3:1 weight 10'] })
    const adapter = create({ socket: process.adminSocket })
    const target = await targetOf(adapter, endpoint(0, { address: '127.0.0.3', port: 1 }))
    const prior = (await adapter.snapshot([target], call)).get(target.id)!.prior
    expect(prior).toEqual({ state: 'ready' })
    await process.ask('set server web/heavy weight 3')
    await adapter.restore([{ target, prior }], call)
    expect(await process.ask('get weight web/heavy')).toBe('10 (initial 10)')
  })

  test('a weight that an agent check gives is neither kept nor put back: the agent changes it by itself', async () => {
    const agent = await startAgent('50%')
    const moreLines = [`server own 127.0.0.3:1 weight 100 ${agent.check}`]
    const process = await start({ endpoints: [endpoint(0)], moreLines })
    const adapter = create({ socket: process.adminSocket })
    const target = await targetOf(adapter, endpoint(0, { address: '127.0.0.3' }))
    const read = async () => (await adapter.snapshot([target], call)).get(target.id)!
    await waitUntil(async () => (await read()).weight === 50, 'the agent has given its weight')
    const { prior } = await read()
    expect(prior).toEqual({ state: 'ready' })
    await adapter.drain([target], call)
    agent.say('70%')
    await waitUntil(async () => (await read()).weight === 70, 'the agent has given another')
    expect((await adapter.restore([{ target, prior }], call)).get(target.id)).toEqual({ outcome: 'applied' })
    expect(await read()).toEqual({ prior, inRotation: true, weight: 70 })
  })

  test('an agent that says 0% at the moment has it out by itself: it is drained as any other, and home when the agent says so', async () => {
    const agent = await startAgent('0%')
    const process = await start({ endpoints: [endpoint(0)], moreLines: [`server own 127.0.0.3:1 weight 100 ${agent.check}`] })
    const adapter = create({ socket: process.adminSocket })
    const target = await targetOf(adapter, endpoint(0, { address: '127.0.0.3' }))
    await waitUntil(async () => (await observe(adapter, target)).weight === 0, 'the agent has given its weight')
    const { prior, inRotation } = (await adapter.snapshot([target], call)).get(target.id)!
    expect([prior, inRotation]).toEqual([{ state: 'ready' }, true])
    expect(await observe(adapter, target)).toMatchObject({ admin: 'in', routable: false, detail: 'own: weight 0 by its agent' })
    await adapter.drain([target], call)
    agent.say('60%')
    await waitUntil(async () => (await observe(adapter, target)).weight === 60, 'the agent has given another')
    expect(await observe(adapter, target)).toMatchObject({ admin: 'draining', routable: false })
    await adapter.restore([{ target, prior }], call)
    expect(await observe(adapter, target)).toMatchObject({ admin: 'in', routable: true, weight: 60 })
  })

  test('names as long as HAProxy takes them: the batch is cut into writes by length', async () => {
    const name = (index: number) => `${'x'.repeat(200)}-${index}`
    const moreLines = Array.from({ length: 60 }, (_, index) => `server ${name(index)} 127.0.0.3:${index + 1}`)
    const process = await start({ endpoints: [endpoint(0)], moreLines })
    const adapter = create({ socket: process.adminSocket })
    const endpoints = moreLines.map((_, index) => endpoint(index, { address: '127.0.0.3' }))
    const targets = (await adapter.resolve(endpoints, call)).flatMap((found) => (found.found ? found.targets : []))
    expect(targets).toHaveLength(60)
    const results = await adapter.drain(targets, call)
    expect([...results.values()].every(({ outcome }) => outcome === 'applied')).toBe(true)
    expect((await process.ask('show servers state web')).match(/ 127\.0\.0\.3 \d 8 /g)).toHaveLength(60)
  })

  test('many calls at once are all answered, though a stats socket takes few connections', async () => {
    const process = await start({ endpoints: [endpoint(0)] })
    const adapter = create({ socket: process.adminSocket })
    const target = await targetOf(adapter, endpoint(0))
    const observed = await Promise.all(Array.from({ length: 50 }, () => observe(adapter, target)))
    expect(new Set(observed.map(({ admin }) => admin))).toEqual(new Set(['in']))
  })

  test('persistence still brings requests to a drained server: it is not empty between two of them', async () => {
    const persistence = [['use-server w0 if { always_true }'], ['stick-table type integer size 10', 'stick on int(1)']]
    const sticky = { admin: 'draining', inFlight: 1, detail: expect.stringMatching(/^w\d: drain; got a session \d s ago$/) }
    const empty = { admin: 'draining', inFlight: 0, detail: expect.stringMatching(/^w\d: drain$/) }
    expect(await Promise.all(persistence.map(drainUnderPersistence))).toMatchObject(
      persistence.map(() => ({ atOnce: empty, later: empty, afterRequest: sticky, byAnother: sticky })),
    )
  })

  async function drainUnderPersistence(moreLines: string[]) {
    const { process, pods } = await startWithPods({ moreLines, checked: 0 })
    const adapter = create({ socket: process.adminSocket })
    const traffic = createTraffic({ socketPath: process.front }, pods)
    // The wait ends after the second in which the state of the server last changed.
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    const bound = await traffic.request()
    const target = await targetOf(
      adapter,
      pods.endpoints.find(({ uid }) => uid === bound)!,
    )
    await adapter.drain([target], call)
    // A session from before the drain does not count as in progress.
    const atOnce = await observe(adapter, target)
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    const later = await observe(adapter, target)
    expect(await traffic.request()).toBe(bound)
    const afterRequest = await observe(adapter, target)
    // Another process did not send the drain and has no count. It sees the session all the same.
    const byAnother = await observe(create({ socket: process.adminSocket }), target)
    await waitUntil(async () => (await observe(adapter, target)).inFlight === 0, 'no request has come for a while')
    return { atOnce, later, afterRequest, byAnother }
  }

  // HAProxy 3.2.0 hangs on more data than one buffer.
  test('about a thousand commands in one call, with a buffer of 4 KB: all are done, and answered', async () => {
    const endpoints = Array.from({ length: 999 }, (_, index) => endpoint(index))
    const process = await start({ endpoints, checked: 0, globalLines: ['tune.bufsize 4096'] })
    const adapter = create({ socket: process.adminSocket })
    const targets = (await adapter.resolve(endpoints, call)).flatMap((found) => (found.found ? found.targets : []))
    expect(targets).toHaveLength(endpoints.length)
    const outcomes = async (results: Promise<Map<string, EffectResult>>) =>
      new Set(Array.from((await results).values(), ({ outcome }) => outcome))
    expect(await outcomes(adapter.drain(targets, call))).toEqual(new Set(['applied']))
    expect((await process.ask('show servers state web')).match(/ 127\.0\.0\.2 \d 8 /g)).toHaveLength(endpoints.length)
    // The first list is short enough for one query per server. The second list uses one table.
    for (const some of [targets.slice(0, 150), targets]) {
      const observed = [...(await adapter.inspect(some, call)).values()]
      expect(observed.map(({ admin, inFlight }) => [admin, inFlight])).toEqual(some.map(() => ['draining', 0]))
    }
    const priors = targets.map((target) => ({ target, prior: { state: 'ready', weight: 7 } }))
    expect(await outcomes(adapter.restore(priors, call))).toEqual(new Set(['applied']))
    expect((await process.ask('show servers state web')).match(/ 127\.0\.0\.2 \d 0 7 /g)).toHaveLength(endpoints.length)
  })

  test('the socket of the master process in the place of a stats socket is refused by name', async () => {
    const process = await start({ endpoints: [endpoint(0)] })
    await expect(create({ socket: process.masterSocket }).resolve([endpoint(0)], call)).rejects.toMatchObject({
      kind: 'fatal',
      message: expect.stringContaining(`${process.masterSocket} is the socket of the master process`),
    })
  })

  // HAProxy allows such a config before 3.3.
  test('a frontend with the name of the backend is not taken for it', async ({ skip }) => {
    const started = await startWithPods({ frontend: 'web' }).catch((error: Error) => error)
    const isRefused = started instanceof Error && started.message.includes('no longer supported as of 3.3')
    skip(isRefused, 'a config of this version cannot have it')
    if (started instanceof Error) throw started
    const { process, pods } = started
    const held = await createTraffic({ socketPath: process.front }, pods).hold()
    const target = await targetOf(
      create({ socket: process.adminSocket }),
      pods.endpoints.find(({ uid }) => uid === held.uid)!,
    )
    expect(await observe(create({ socket: process.adminSocket }), target)).toMatchObject({ admin: 'in', inFlight: 1 })
    expect(await held.release()).toBe(true)
  })

  test('in TCP mode an open connection is served on, and counted until it closes', async () => {
    const { process, pods } = await startWithPods({ mode: 'tcp' })
    const adapter = create({ socket: process.adminSocket })
    const targets = await Promise.all(pods.endpoints.map((of) => targetOf(adapter, of)))
    const client = connect(process.front)
    cleanups.push(() => client.destroy())
    await new Promise((resolve) => client.once('connect', resolve))
    const answer = () =>
      new Promise<string>((resolve) => {
        client.once('data', (data) => resolve(data.toString()))
        client.write('GET / HTTP/1.1\r\nHost: web\r\n\r\n')
      })
    const uid = /x-pod: (\S+)/.exec(await answer())?.[1]
    const target = targets[pods.endpoints.findIndex((of) => of.uid === uid)]!
    await adapter.drain([target], call)
    expect((await observe(adapter, target)).inFlight).toBe(1)
    expect(await answer()).toContain(`x-pod: ${uid}`)
    client.destroy()
    await waitUntil(async () => (await observe(adapter, target)).inFlight === 0, 'the connection is gone')
  })
})
