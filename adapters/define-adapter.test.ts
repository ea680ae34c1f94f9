import { type AddressInfo, connect, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type Adapter, AdapterError, type EffectCall } from './contract.ts'
import { type AdapterCode, defineAdapter, type Entry, isUnsent, type LoadBalancerCalls, resultKey } from './define-adapter.ts'

const ENTRY: Entry = { name: 'a', address: '10.0.0.1', port: 80, state: 'in' }
const TARGET = { id: 'a@10.0.0.1:80', scope: 'lb edge' }
const call: EffectCall = { deadlineMs: 20_000, assertLive: () => {}, operationIds: new Map([[TARGET.id, 'op-1']]), fence: 1 }

function codeOf(over: Partial<AdapterCode<object>> = {}, calls: Partial<LoadBalancerCalls> = {}): AdapterCode<object> {
  return {
    name: 'lb',
    summary: 'For tests.',
    options: z.strictObject({}),
    capabilities: { inFlight: 'none', settleMs: 0, volatileOnReload: false },
    open: () => ({ list: async () => [ENTRY], drain: async () => {}, restore: async () => {}, ...calls }),
    ...over,
  }
}

const adapterOf = (calls: Partial<LoadBalancerCalls>): Adapter => defineAdapter(codeOf({}, calls)).create({}, { name: 'edge' })
const listing = (entries: unknown): Adapter => adapterOf({ list: async () => entries as Entry[] })

test.each([
  [[{ ...ENTRY, state: 'ready' }], '[0].state: "ready": '],
  [[{ ...ENTRY, inFlight: '0' }], '[0].inFlight: "0": '],
  [[{ ...ENTRY, port: '80' }], '[0].port: "80": '],
  [[{ ...ENTRY, address: '10.0.0.1:80@x' }], '[0].address: "10.0.0.1:80@x": '],
  [[ENTRY, { ...ENTRY, address: '10.0.0.2' }], 'the entry a is there twice'],
  [undefined, 'it: undefined: '],
])('a list of %j is fatal, before anything is sent', async (entries, said) => {
  const message = expect.stringContaining(`lb edge: list of the adapter gives what is no entry: ${said}`) as string
  await expect(listing(entries).snapshot([TARGET], call)).rejects.toMatchObject({ kind: 'fatal', message })
  await expect(listing(entries).drain([TARGET], call)).rejects.toMatchObject({ kind: 'fatal', message })
})

test('results that are not those of the entries are ambiguous, and none of them counts', async () => {
  const failed = { outcome: 'failed', error: new AdapterError('lb', 'fatal', 'no right') } as const
  const drained = (results: unknown) =>
    adapterOf({ drain: async () => results as Map<string, typeof failed> }).drain([TARGET], call)
  for (const wrong of [new Map([['a', failed]]), new Map(), { a: failed }])
    await expect(drained(wrong)).rejects.toMatchObject({ kind: 'ambiguous' })
  expect(await drained(new Map([[resultKey(ENTRY), failed]]))).toEqual(new Map([[TARGET.id, failed]]))
})

test.each<[Entry['state'], Entry['state'] | undefined, string[]]>([
  ['draining', undefined, ['restore in']],
  ['draining', 'draining', ['restore in']],
  ['draining', 'in', ['drain', 'restore in']],
  ['in', 'draining', ['drain', 'restore in']],
  ['in', undefined, ['drain']],
])(
  'an entry that is %s and becomes %s: what is not loaded yet is no done drain and no done restore',
  async (state, becomes, sent) => {
    const seen: string[] = []
    const adapter = adapterOf({
      list: async () => [{ ...ENTRY, prior: [], state, ...(becomes === undefined ? {} : { becomes }) }],
      async drain() {
        seen.push('drain')
      },
      async restore(formers) {
        seen.push(...formers.map((former) => `restore ${former.state}`))
      },
    })
    await adapter.drain([TARGET], call)
    await adapter.restore([{ target: TARGET, prior: { state: 'in', prior: [] } }], call)
    expect(seen).toEqual(sent)
    expect((await adapter.inspect([TARGET], call)).get(TARGET.id)?.admin).toBe(state)
  },
)

test('an entry has the operation of its change', async () => {
  const seen: string[] = []
  const adapter = adapterOf({
    async drain(entries, { operationOf }) {
      seen.push(...entries.map(operationOf))
    },
  })
  await adapter.drain([TARGET], call)
  expect(seen).toEqual(['op-1'])
})

test.each<[string, Partial<Record<keyof AdapterCode<object>, unknown>>, string]>([
  ['no capabilities', { capabilities: {} }, 'capabilities of lb: inFlight is missing'],
  [
    'wrong ones',
    { capabilities: { inFlight: 'all', settleMs: '5s', volatileOnReload: true } },
    'inFlight: "all": Invalid option: expected one of "exact"|"requests-only"|"none"; settleMs: "5s": ',
  ],
  ['no open', { open: undefined }, 'open is missing'],
  ['options that are no schema', { options: {} }, 'options: {}: must be a schema of zod 4'],
])('code with %s is refused where it is defined', (_, over, message) => {
  expect(() => defineAdapter({ ...codeOf(), ...over } as AdapterCode<object>)).toThrow(message)
})

test('capabilities that a function gives are checked when the adapter is made', () => {
  const wrong = () => ({ inFlight: 'none', settleMs: -1, volatileOnReload: true }) as const
  expect(() => defineAdapter(codeOf({ capabilities: wrong })).create({}, { name: 'edge' })).toThrow('settleMs: -1: ')
})

/** An address without a listener. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

test('a connection that there never was has sent nothing; a file that is missing says nothing of that', async () => {
  const port = await closedPort()
  const refused = await new Promise<Error>((resolve) => connect(port, '127.0.0.1').once('error', resolve))
  expect(isUnsent(refused)).toBe(true)
  expect(isUnsent(await fetch(`http://127.0.0.1:${port}/`).catch((error: unknown) => error))).toBe(true)
  expect(isUnsent(Object.assign(new Error('gone'), { code: 'ENOENT', syscall: 'open' }))).toBe(false)
  expect(isUnsent(Object.assign(new Error('reset'), { code: 'ECONNRESET', syscall: 'read' }))).toBe(false)
})

test('an entry that a drain takes away is asked for by its name, and is drained where the load balancer says that it does not have it', async () => {
  const seen: string[] = []
  const gone: Entry = { ...ENTRY, state: 'draining', prior: null }
  const adapterWith = (said: Entry[]): Adapter =>
    adapterOf({
      list: async () => [],
      missing: async (asked) => {
        seen.push(...asked.map(({ name, address, port }) => `${name} ${address} ${port}`))
        return said
      },
      async restore(formers) {
        seen.push(...formers.map(({ entry }) => `restore ${entry.name}`))
      },
    })
  const adapter = adapterWith([gone])
  expect((await adapter.inspect([TARGET], call)).get(TARGET.id)).toMatchObject({ admin: 'draining', routable: false })
  expect((await adapter.drain([TARGET], call)).get(TARGET.id)).toEqual({ outcome: 'applied' })
  await adapter.restore([{ target: TARGET, prior: { state: 'in', prior: 'x' } }], call)
  expect(seen).toEqual([...Array.from({ length: 3 }, () => 'a 10.0.0.1 80'), 'restore a'])
  const control = adapterWith([])
  expect((await control.inspect([TARGET], call)).get(TARGET.id)?.admin).toBe('absent')
  expect((await control.drain([TARGET], call)).get(TARGET.id)).toMatchObject({ error: { kind: 'not-found' } })
  expect((await adapter.resolve([{ uid: 'u', pod: 'p', address: '10.0.0.1', port: 80 }], call))[0]?.found).toBe(false)
})

test('an entry for which the load balancer waits itself is emptying, as long as it is drained', async () => {
  const observed = async (entry: Entry): Promise<unknown> => (await listing([entry]).inspect([TARGET], call)).get(TARGET.id)
  expect(await observed({ ...ENTRY, state: 'draining', emptying: true })).toMatchObject({ isEmptying: true, inFlight: null })
  expect(await observed({ ...ENTRY, state: 'in', emptying: true })).not.toHaveProperty('isEmptying')
  expect(await observed({ ...ENTRY, state: 'draining' })).not.toHaveProperty('isEmptying')
})

test('a list is told the scopes that are asked for', async () => {
  const asked: unknown[] = []
  const adapter = adapterOf({
    async list({ scopes }) {
      asked.push(scopes)
      return [ENTRY]
    },
  })
  await adapter.resolve([], call)
  await adapter.inspect([TARGET, { id: 'b@10.0.0.2:80', scope: 'lb edge' }], call)
  expect(asked).toEqual([undefined, ['lb edge']])
})

test('a list on which a restore rests is told so, and no other one is', async () => {
  const told: unknown[] = []
  const adapter = adapterOf({
    async list({ beforeRestore }) {
      told.push(beforeRestore)
      return [ENTRY]
    },
  })
  await adapter.inspect([TARGET], call)
  await adapter.drain([TARGET], call)
  await adapter.restore([{ target: TARGET, prior: { state: 'in', prior: null } }], call)
  expect(told).toEqual([undefined, undefined, true])
})

test('all entries are listed with their addresses, in rotation or not', async () => {
  const entries: Entry[] = [
    { ...ENTRY, weight: 2 },
    { name: 'b', address: 'fd00::1', port: 80, state: 'in', weight: 0, scope: 'other' },
    { name: 'c', address: '10.0.0.3', port: 81, state: 'out' },
  ]
  expect(await listing(entries).entries!(call)).toEqual([
    { id: 'a@10.0.0.1:80', address: '10.0.0.1', port: 80, admin: 'in' },
    { id: 'b@[fd00::1]:80', address: 'fd00::1', port: 80, admin: 'draining' },
    { id: 'c@10.0.0.3:81', address: '10.0.0.3', port: 81, admin: 'out' },
  ])
})
