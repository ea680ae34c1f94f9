/** Tests that the examples of the README load, and that the example for the demo load balancer works. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { createLoadBalancer } from '../../demo/load-balancer/load-balancer.ts'
import type { Config } from '../../src/config/config.ts'
import { createLoadBalancers } from '../../src/config/create-load-balancers.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import type { EffectCall } from '../contract.ts'
import { httpOptions } from './options.ts'

const readme = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8')
const blocks = [...readme.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text]) => text!)
const examples = blocks.filter((text) => text.includes('kind: Config\n'))
const folder = mkdtempSync(join(tmpdir(), 'sluice-http-readme-'))
afterAll(() => rmSync(folder, { recursive: true }))
afterEach(() => {
  vi.unstubAllEnvs()
})

function load(text: string): Promise<Config> {
  const file = join(folder, 'sluice.yaml')
  writeFileSync(file, text)
  return loadConfig(file)
}

test('there are two, and both load', async () => {
  expect(examples.length).toBe(2)
  for (const example of examples) expect((await load(example)).loadBalancers.length).toBe(1)
})

test('each part of a config fits into a whole one', () => {
  const parts = blocks.filter((text) => !examples.includes(text))
  expect(parts).toHaveLength(4)
  const whole = parse(examples[0]!) as { loadBalancers: [{ options: Record<string, object> }] }
  const { auth: _auth, capabilities: _capabilities, ...options } = whole.loadBalancers[0].options
  for (const part of parts) {
    const given = parse(part) as Record<string, object>
    const inspect = { ...options['inspect'], ...given['inspect'] }
    const url = 'failover' in given ? { url: 'https://10.0.0.7' } : {}
    expect(httpOptions.safeParse({ ...options, ...given, inspect, ...url }).error?.issues).toBeUndefined()
  }
})

test('the first one drains and restores', async () => {
  const balancer = await createLoadBalancer({ servers: [{ name: 'web-0', address: '10.0.0.1:8080', weight: 7 }], token: 'open' })
  vi.stubEnv('EDGE_TOKEN', 'open')
  const text = examples[0]!.replace('http://127.0.0.1:9000', balancer.adminUrl)
  expect(text).not.toBe(examples[0])
  const { adapter } = createLoadBalancers(await load(text))[0]!
  try {
    const operationIds = new Map([['web-0@10.0.0.1:8080', 'f00d']])
    const call: EffectCall = { deadlineMs: 20_000, assertLive: () => {}, operationIds, fence: 1 }
    const [resolution] = await adapter.resolve([{ uid: 'u', pod: 'web-0', address: '10.0.0.1', port: 8080 }], call)
    if (resolution?.found !== true) throw new Error(resolution?.reason)
    const [target] = resolution.targets
    const { prior } = (await adapter.snapshot([target!], call)).get(target!.id)!
    expect((await adapter.drain([target!], call)).get(target!.id)).toEqual({ outcome: 'applied' })
    expect(balancer.servers()[0]).toMatchObject({ state: 'drain', weight: 7 })
    expect((await adapter.restore([{ target: target!, prior }], call)).get(target!.id)).toEqual({ outcome: 'applied' })
    expect(balancer.servers()[0]).toMatchObject({ state: 'ready', weight: 7 })
    const writes = balancer.calls.filter(({ method }) => method === 'PUT')
    expect(writes.map(({ body }) => body)).toEqual([{ state: 'drain' }, { state: 'ready', weight: 7 }])
    expect(writes[0]!.headers['idempotency-key']).toBe('f00d')
  } finally {
    await adapter.close()
    await balancer.close()
  }
})
