import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { configOf } from '../../src/config/load-config.ts'
import { loadAdapter, presetNames } from '../registry.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-parameters-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The minimum options of each preset. */
const LEAST: Record<string, Record<string, unknown>> = {
  caddy: { url: 'http://127.0.0.1:2019', handler: 'id/web' },
  consul: { url: 'http://127.0.0.1:8500', service: 'web' },
  'consul-catalog': { url: 'http://127.0.0.1:8500', service: 'web' },
  eureka: { url: 'http://127.0.0.1:8761/eureka', app: 'WEB' },
  f5: { url: 'https://127.0.0.1', pool: 'web', username: 'sluice', password: { env: 'F5_PASSWORD' } },
}

async function messageOf(adapter: string, options: Record<string, unknown>): Promise<string> {
  const loadBalancers = [{ name: 'edge', adapter, port: 80, options }]
  const config = configOf({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers })
  return config.then(
    () => 'right',
    (error: Error) => error.message,
  )
}

test('each preset is here', () => {
  expect(Object.keys(LEAST).toSorted()).toEqual([...presetNames].toSorted())
})

test.each(Object.entries(LEAST))('%s needs each of its least options, and nothing else', async (name, least) => {
  expect(await messageOf(name, least)).toBe('right')
  for (const key of Object.keys(least)) {
    const { [key]: _left, ...others } = least
    expect(await messageOf(name, others)).toContain(`loadBalancers[0].options.${key}: is missing`)
  }
})

test.each(Object.keys(LEAST))('%s refuses an option of another name, and what the preset itself says', async (name) => {
  expect(await messageOf(name, { ...LEAST[name], heders: {} })).toContain(
    'options.heders: unknown key\n    did you mean "headers"?',
  )
  const drain = { method: 'PUT', path: '/' }
  expect(await messageOf(name, { ...LEAST[name], drain })).toContain('options.drain: unknown key')
})

test.each([
  ['caddy', { handler: 7 }, 'options.handler: 7 is not a string'],
  ['caddy', { handler: '/id/web' }, 'options.handler: is no path\n    write names with / between them'],
  ['caddy', { handler: 'id/../load' }, 'options.handler: is no path'],
  ['caddy', { host: 'a\nb' }, 'options.host: holds characters that are no text'],
  ['caddy', { headers: { host: 'x' } }, 'options.headers.host: is set by the preset'],
  ['consul', { agentPort: '8500' }, 'options.agentPort: "8500" is not a number\n    give it without quotes'],
  ['consul', { scheme: 'htps' }, 'options.scheme: "htps" is none of http, https\n    did you mean "https"?'],
  ['consul', { scheme: 'https' }, 'is of another protocol than url'],
  ['consul', { capabilities: { settle: 5 } }, 'options.capabilities.settle: '],
  ['consul-catalog', { servce: 'x' }, 'options.servce: unknown key\n    did you mean "service"?'],
  ['eureka', { auth: { bearer: 'secret' } }, 'options.auth.bearer: must not be written out'],
  ['f5', { password: 'secret' }, 'options.password: must not be written out'],
  ['f5', { peer: '10.0.0.8' }, 'options.peer: is no http or https URL'],
  [
    'f5',
    { peer: 'http://10.0.0.8' },
    'options.peer: gives failover.urls.0 of the preset f5 a value that cannot be used: is not https, as url is',
  ],
  ['f5', { auth: { bearer: { env: 'T' } } }, 'options.auth: unknown key'],
])('%s with %j: %s', async (name, options, expected) => {
  expect(await messageOf(name, { ...LEAST[name], ...options })).toContain(expected)
})

test.each([
  ['caddy', { handler: 'a b/c?d' }, 'targets.request.path', '/a%20b/c%3Fd/upstreams'],
  ['consul', { service: 'a/b?c' }, 'targets.request.path', '/v1/health/service/a%2Fb%3Fc?consistent'],
  ['f5', { pool: 'web"~${x}' }, 'targets.request.path', '/mgmt/tm/ltm/pool/~Common~web%22~%24%7Bx%7D/members'],
  ['f5', { username: '${secrets.password}' }, 'login.request.body.username', '$${secrets.password}'],
])('%s with %j: what is written stays a value', async (name, options, path, expected) => {
  const { options: schema } = await loadAdapter(name)
  const parsed = schema.parse({ ...LEAST[name], ...options })
  expect(path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], parsed)).toBe(expected)
})
