import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createLoadBalancers } from './create-load-balancers.ts'
import { loadConfig } from './load-config.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-preset-'))
const presetFile = join(folder, 'mine/my-lb.yaml')
mkdirSync(join(folder, 'mine'))
afterAll(() => rmSync(folder, { recursive: true }))

const PRESET = `apiVersion: sluice.dev/v1
kind: Preset
name: my-lb
summary: The load balancer of our own.
parameters:
  pool: {type: text, required: true, description: The pool.}
  weight: {type: integer, default: 3, description: Its weight.}
  zone: {type: text, values: [a, b], description: The zone.}
overridable: [capabilities.settle]
options:
  headers: {X-Zone: $(zone)}
  targets:
    request: {path: /pools/$(pool)}
    id: entry.name
    address: entry.address
  inspect:
    admin: 'entry.pool == $(pool) ? "in" : "draining"'
    prior: entry.state
  drain: {method: PUT, path: '/drain/\${target.id}'}
  restore: {method: PUT, path: '/restore/\${target.id}', body: {weight: $(weight)}}
  capabilities: {settle: 1s}
`

function configWith(options: string): string {
  return `apiVersion: sluice.dev/v1
kind: Config
loadBalancers:
  - {name: edge, adapter: http, port: 80, options: {${options}}}
`
}

async function load(options: string, preset = PRESET): ReturnType<typeof loadConfig> {
  writeFileSync(presetFile, preset)
  const file = join(folder, 'sluice.yaml')
  writeFileSync(file, configWith(options))
  return loadConfig(file)
}

async function messageOf(options: string, preset?: string): Promise<string> {
  const config = await load(options, preset).catch((error: Error) => error.message)
  if (typeof config !== 'string') throw new Error('it was taken')
  return config.replaceAll(`${folder}/`, '')
}

const GOOD = 'preset: ./mine/my-lb.yaml, url: "https://lb:1", pool: web'

test('a file beside the config is found from the folder of the config, and is an adapter of its own name', async () => {
  const config = await load(`${GOOD}, zone: b, headers: {X-More: "1"}, auth: {bearer: {env: T}}`)
  expect(config.loadBalancers[0]).toMatchObject({
    adapter: 'my-lb',
    options: {
      url: 'https://lb:1',
      auth: { bearer: { env: 'T' } },
      headers: { 'X-Zone': 'b', 'X-More': '1' },
      targets: { request: { path: '/pools/web' } },
      inspect: { admin: 'entry.pool == "web" ? "in" : "draining"' },
      restore: { body: { weight: 3 } },
      capabilities: { settle: '1s' },
    },
  })
  const [{ adapter, adapterName }] = createLoadBalancers(config) as [ReturnType<typeof createLoadBalancers>[0]]
  expect([adapterName, adapter.capabilities.settleMs]).toEqual(['my-lb', 1000])
  await adapter.close()
})

test('a preset is overridden where it says so, and nowhere else', async () => {
  const { loadBalancers } = await load(`${GOOD}, capabilities: {settle: 9s}`)
  expect(loadBalancers[0]!.options).toMatchObject({ capabilities: { settle: '9s', inspect: 'strong' } })
  expect(await messageOf(`${GOOD}, capabilities: {inspect: eventual}`)).toContain(
    'loadBalancers[0].options.capabilities.inspect: unknown key',
  )
  expect(await messageOf(`${GOOD}, drain: {method: PUT, path: /x}`)).toContain('loadBalancers[0].options.drain: unknown key')
})

test.each([
  [
    'a mistyped parameter',
    'preset: mine/my-lb.yaml, url: "https://lb:1", pol: web',
    'options.pol: unknown key\n    did you mean "pool"?',
  ],
  ['a missing one', 'preset: mine/my-lb.yaml, url: "https://lb:1"', 'options.pool: is missing\n    write pool: with text'],
  ['one of another type', `${GOOD}, weight: "4"`, 'options.weight: "4" is not a number\n    write it without quotes'],
  ['one that is none of the values', `${GOOD}, zone: c`, 'options.zone: "c" is none of a, b\n    did you mean "a"?'],
  [
    'a header that the preset sets',
    `${GOOD}, headers: {x-zone: q}`,
    'options.headers.x-zone: is set by the preset\n    remove it',
  ],
  ['no url', 'preset: mine/my-lb.yaml, pool: web', 'options.url: is missing'],
  [
    'a preset that is not there',
    'preset: consul-catalg',
    'options.preset: "consul-catalg" is no preset\n    did you mean "consul-catalog"?',
  ],
  ['an adapter that is no preset', 'preset: haproxy', 'options.preset: "haproxy" is no preset\n    presets: '],
  ['a file that is not there', 'preset: ./no.yaml', 'options.preset: no.yaml: there is no such file\n    write preset: NAME'],
])('%s names the field of the config', async (_title, options, expected) => {
  expect(await messageOf(options)).toContain(`sluice.yaml:4:`)
  expect(await messageOf(options)).toContain(expected)
})

test.each([
  ['an unknown key', ['kind: Preset', 'kind: Preset\nsumary: x'], 'mine/my-lb.yaml:3:1: sumary: unknown key'],
  [
    'an undeclared parameter',
    ['$(pool) ?', '$(pol) ?'],
    'mine/my-lb.yaml:17:12: options.inspect.admin: $(pol) is no parameter\n    there are: pool, weight, zone',
  ],
  [
    'a parameter in quotes',
    ['$(pool) ?', '"$(pool)" ?'],
    'mine/my-lb.yaml:17:12: options.inspect.admin: $(pool) stands within quotes',
  ],
  [
    'a parameter that is used nowhere',
    ['$(weight)', '5'],
    'mine/my-lb.yaml:7:11: parameters.weight: is used nowhere\n    write $(weight)',
  ],
  ['wrong CEL', ['entry.state', 'entry.'], 'mine/my-lb.yaml:18:12: options.inspect.prior: the expression entry. is wrong'],
  [
    'an option that is none',
    ['id: entry', 'idd: entry'],
    'mine/my-lb.yaml:14:5: options.targets.idd: unknown key\n    did you mean "id"?',
  ],
  ['a name of an option', ['  pool: {', '  url: {'], 'parameters.url: is the name of an option of the adapter http'],
  [
    'a default of another type',
    ['default: 3', 'default: a'],
    'mine/my-lb.yaml:7:36: parameters.weight.default: is no value of a parameter of type integer',
  ],
  [
    'one that may be absent within a text',
    ['/pools/$(pool)', '/pools/$(zone)/$(pool)'],
    'options.targets.request.path: $(zone) may have no value',
  ],
  [
    'an override of what is no option',
    ['capabilities.settle]', 'capabilities.setle]'],
    'mine/my-lb.yaml:9:15: overridable[0]: is no option of the adapter http',
  ],
  ['another kind', ['kind: Preset', 'kind: Config'], 'mine/my-lb.yaml:2:7: kind: "Config" is not understood\n    write Preset'],
  ['an empty file', [PRESET, ''], 'mine/my-lb.yaml: is empty\n    it needs at least apiVersion, kind, name, summary and options'],
])('%s in the file names the file, the line and the field', async (_title, [from, to], expected) => {
  const preset = PRESET.replace(from!, () => to!)
  expect(preset).not.toBe(PRESET)
  const message = await messageOf(GOOD, preset)
  expect(message).toContain('loadBalancers[0].options.preset: ')
  expect(message).toContain(expected)
})

test('one name, however a preset is chosen', async () => {
  const options = 'url: "http://c:8500", service: web'
  const byOption = await load(`preset: consul-catalog, ${options}`)
  writeFileSync(join(folder, 'sluice.yaml'), configWith(options).replace('adapter: http', 'adapter: consul-catalog'))
  const byName = await loadConfig(join(folder, 'sluice.yaml'))
  expect(byOption.loadBalancers[0]!.adapter).toBe('consul-catalog')
  expect({ ...byName.loadBalancers[0], definition: null }).toEqual({ ...byOption.loadBalancers[0], definition: null })
})
