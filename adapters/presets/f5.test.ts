/* Tests of the session and the pair, on a server that is rebuilt from the documentation. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import { createPool, type Pool } from '../../demo/load-balancer/pool.ts'
import type { ApiRequest, DocumentedProduct } from '../conformance/documented/api.ts'
import { serveApi } from '../conformance/documented/api.ts'
import { createF5, type F5, PASSWORD, POOL } from '../conformance/documented/f5.ts'
import { drainOne, inspectOne, restoreOne, snapshotOne } from '../conformance/steps.ts'
import type { Adapter, Target } from '../contract.ts'
import { compile } from '../http/expression.ts'
import type { HttpOptions } from '../http/fields.ts'
import { loadAdapter } from '../registry.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-f5-'))
const file = join(folder, 'password')
writeFileSync(file, PASSWORD)
afterAll(() => rmSync(folder, { recursive: true }))
const cleanups: (() => void)[] = []
afterEach(() => {
  for (const clean of cleanups.splice(0)) clean()
})

const preset = await loadAdapter('f5')
const TARGET: Target = { id: '/Common/10.0.0.1%1:8080@10.0.0.1:8080', scope: 'all' }

function parse(options: object): unknown {
  return preset.options.parse({ pool: POOL, username: 'sluice', password: { file }, capabilities: { settle: '0s' }, ...options })
}

function adapterOf(options: object): Adapter {
  const adapter = preset.create(parse(options), { name: 'edge' })
  cleanups.push(() => void adapter.close())
  return adapter
}

async function serve(product: DocumentedProduct): Promise<string> {
  const { url, server } = await serveApi(product)
  cleanups.push(() => {
    server.close()
    server.closeAllConnections()
  })
  return url
}

function poolOfTwo(): Pool {
  return createPool(['10.0.0.1:8080', '10.0.0.2:8080'].map((address, index) => ({ name: `web-${index}`, address })))
}

/** Calls `before` for each PATCH, before the product handles it. */
function withPatches(f5: F5, before: (request: ApiRequest) => void): DocumentedProduct {
  return {
    ...f5,
    answer(request) {
      if (request.method === 'PATCH') before(request)
      return f5.answer(request)
    },
  }
}

test('a token is used until it expires; a reading then logs in again', async () => {
  const f5 = createF5(poolOfTwo())
  const adapter = adapterOf({ url: await serve(f5) })
  expect((await inspectOne(adapter, TARGET)).admin).toBe('in')
  expect((await inspectOne(adapter, TARGET)).admin).toBe('in')
  expect(f5.logins()).toBe(1)
  f5.expireTokens()
  expect((await inspectOne(adapter, TARGET)).admin).toBe('in')
  expect(f5.logins()).toBe(2)
})

test('a change whose token expires right before it is not sent again by the adapter; the next try is', async () => {
  const pool = poolOfTwo()
  const f5 = createF5(pool)
  let patches = 0
  const adapter = adapterOf({ url: await serve(withPatches(f5, () => ++patches === 1 && f5.expireTokens())) })
  const { prior } = await snapshotOne(adapter, TARGET)
  expect(await drainOne(adapter, TARGET)).toMatchObject({ outcome: 'failed', error: { kind: 'retryable' } })
  expect([patches, pool.find('web-0')?.state]).toEqual([1, 'ready'])
  expect(await drainOne(adapter, TARGET)).toEqual({ outcome: 'applied' })
  expect(pool.find('web-0')?.state).toBe('drain')
  expect(await restoreOne(adapter, TARGET, prior)).toEqual({ outcome: 'applied' })
  expect(pool.find('web-0')?.state).toBe('ready')
})

test('a user whose every change is refused as if it had no token is told for good, without a secret', async () => {
  const f5 = createF5(poolOfTwo())
  const adapter = adapterOf({ url: await serve(withPatches(f5, () => f5.expireTokens())) })
  expect(await drainOne(adapter, TARGET)).toMatchObject({ outcome: 'failed', error: { kind: 'retryable' } })
  const second = await drainOne(adapter, TARGET)
  expect(second).toMatchObject({ outcome: 'failed', error: { kind: 'fatal' } })
  expect(JSON.stringify(second)).not.toMatch(/TOKEN\d|the-password/)
})

test('a wrong password is fatal, and is not shown', async () => {
  const wrong = join(folder, 'wrong')
  writeFileSync(wrong, 'not-the-password')
  const adapter = adapterOf({ url: await serve(createF5(poolOfTwo())), password: { file: wrong } })
  const error = await inspectOne(adapter, TARGET).catch((thrown: Error) => thrown)
  expect(error).toMatchObject({ kind: 'fatal', message: expect.stringContaining('/mgmt/shared/authn/login answered 401') })
  expect(String(error)).not.toContain('not-the-password')
})

test('of a pair the active unit is asked and written, wherever it stands in the config', async () => {
  const pools = [poolOfTwo(), poolOfTwo()]
  const states: ('active' | 'standby')[] = ['standby', 'active']
  const [first, second] = await Promise.all(
    pools.map((pool, unit) => serve(createF5(pool, { failoverState: () => states[unit]! }))),
  )
  const stateOf = (): unknown[] => pools.map((pool) => pool.find('web-0')?.state)
  expect(await drainOne(adapterOf({ url: first, peer: second }), TARGET)).toEqual({ outcome: 'applied' })
  expect(stateOf()).toEqual(['ready', 'drain'])
  states.reverse()
  // The new active unit does not have the drain. Its own state counts.
  const adapter = adapterOf({ url: first, peer: second })
  expect((await inspectOne(adapter, TARGET)).admin).toBe('in')
  expect(await drainOne(adapter, TARGET)).toEqual({ outcome: 'applied' })
  expect(stateOf()).toEqual(['drain', 'drain'])
})

test('a unit that is away is passed over where the other one is active; a standby alone is neither read nor written', async () => {
  const pool = poolOfTwo()
  const url = await serve(createF5(pool))
  expect(await drainOne(adapterOf({ url: 'http://127.0.0.1:1', peer: url }), TARGET)).toEqual({ outcome: 'applied' })
  const standby = adapterOf({ url: await serve(createF5(poolOfTwo(), { failoverState: () => 'standby' })) })
  await expect(standby.resolve([], { deadlineMs: 20_000, assertLive: () => {} })).rejects.toMatchObject({
    kind: 'retryable',
    message: expect.stringContaining('no unit is active'),
  })
})

test.each([
  [{ name: '10.0.0.1:80', address: '10.0.0.1' }, '10.0.0.1:80'],
  [{ name: '10.0.0.1%2:8080', address: '10.0.0.1%2' }, '10.0.0.1:8080'],
  [{ name: 'web-0:80', address: '10.0.0.1' }, '10.0.0.1:80'],
  [{ name: 'fd00::1.80', address: 'fd00::1' }, '[fd00::1]:80'],
  [{ name: 'fd00::1%2.80', address: 'fd00::1%2' }, '[fd00::1]:80'],
])('the member %j is at %s', (entry, address) => {
  const { targets } = parse({ url: 'http://localhost' }) as HttpOptions
  expect(compile(targets.address!, 'entry', 'address')({ entry })).toBe(address)
})
