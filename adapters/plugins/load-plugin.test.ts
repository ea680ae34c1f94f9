import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-plugins-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const CAPABILITIES = `{
  guarantee: 'G1', maxBatch: 1, inspect: 'strong', inFlight: 'none', volatileOnReload: true, disruptsOthers: false, settleMs: 0,
}`
const MADE = `
  capabilities: ${CAPABILITIES},
  resolve() {}, inspect() {}, snapshot() {}, drain() {}, restore() {}, close() {},`
const ADAPTER = (contract: string, more = '') => `({
  name: 'lb', summary: 'For tests.', ${contract}
  options: { safeParse: (value) => ({ success: true, data: value }) },
  create: (options, { name, folder }) => ({ options, name, folder, ${MADE} }), ${more}
})`

function write(path: string, content: string): void {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
}

/** Loads a config file of the folder in a separate process, because vitest has its own module resolution. */
function load(adapter: string): { made?: object; refused?: string } {
  write(
    'sluice.yaml',
    `apiVersion: sluice.dev/v1\nkind: Config\nloadBalancers:\n  - {name: edge, adapter: "${adapter}", port: 80, options: {a: 1}}\n`,
  )
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', SCRIPT], {
    encoding: 'utf8',
    env: { CONFIG: join(folder, 'sluice.yaml') },
  })
  expect(status, stderr).toBe(0)
  return JSON.parse(stdout.replaceAll(folder, '.')) as object
}

const SCRIPT = `
import { loadConfig } from ${JSON.stringify(join(import.meta.dirname, '../../src/config/load-config.ts'))}
import { createLoadBalancers } from ${JSON.stringify(join(import.meta.dirname, '../../src/config/create-load-balancers.ts'))}
const said = await loadConfig(process.env.CONFIG).then(createLoadBalancers).then(
  ([{ adapter: { options, name, folder } }]) => ({ made: { options, name, folder } }),
  ({ name, message }) => ({ refused: name + ': ' + message }),
)
// A promise that nobody handles ends the process here.
await new Promise((resolve) => setImmediate(resolve))
console.log(JSON.stringify(said))
`

test('a file beside the config, and a package that is installed there, are adapters', () => {
  write('lb.mjs', `export default ${ADAPTER('contract: 1,')}`)
  expect(load('./lb.mjs')).toEqual({ made: { options: { a: 1 }, name: 'edge', folder: '.' } })
  // The package has exports only for `import`, which `require` does not find.
  const manifest = { name: '@acme/lb', type: 'module', exports: { '.': { import: './main.js' } } }
  write('node_modules/@acme/lb/package.json', JSON.stringify(manifest))
  write('node_modules/@acme/lb/main.js', `export const adapter = ${ADAPTER('contract: 1,')}`)
  expect(load('npm:@acme/lb')).toEqual({ made: { options: { a: 1 }, name: 'edge', folder: '.' } })
})

test.each([
  ['./missing.mjs', '', /adapter \.\/missing\.mjs cannot be loaded: there is no file .*missing\.mjs\n.*write its path/],
  [
    'npm:@acme/none',
    '',
    /adapter npm:@acme\/none cannot be loaded: the package @acme\/none is not installed\n.*run npm install @acme\/none in \.$/m,
  ],
  ['./empty.mjs', 'export {}', /it exports no adapter\n +export what defineAdapter gives as default/],
  ['./other.mjs', 'export default { name: "lb" }', /its export is no adapter/],
  ['./broken.mjs', 'export default {', /cannot be loaded: /],
  ['./old.mjs', `export default ${ADAPTER('')}`, /it does not say for which contract it is made; this sluice has contract 1/],
  ['./new.mjs', `export default ${ADAPTER('contract: 2,')}`, /it is made for contract 2; this sluice has contract 1/],
])('%s is refused in its place', (adapter, content, message) => {
  if (content !== '') write(adapter, content)
  const { refused } = load(adapter)
  expect(refused).toMatch(message)
  expect(refused).toContain('sluice.yaml:4:27: loadBalancers[0].adapter: ')
})

describe('what a plugin gives when it is called is refused by name', () => {
  test.each([
    ['a create that gives nothing', 'create() {}', /create of lb gives no adapter: it: undefined: /],
    [
      'a create that gives an empty object',
      'create: () => ({})',
      /create of lb gives no adapter: capabilities is missing; resolve is missing.*and \d more/,
    ],
    [
      'capabilities without settleMs',
      `create: () => ({ ${MADE} capabilities: { ...${CAPABILITIES}, settleMs: undefined } })`,
      /create of lb gives no adapter: capabilities\.settleMs is missing/,
    ],
    [
      'a settleMs that is no number',
      `create: () => ({ ${MADE} capabilities: { ...${CAPABILITIES}, settleMs: NaN } })`,
      /create of lb gives no adapter: capabilities\.settleMs: null: /,
    ],
    [
      'an adapter without drain',
      `create: () => ({ ${MADE} drain: 'later' })`,
      /create of lb gives no adapter: drain: "later": must be a function/,
    ],
    ['an async create', 'async create() { throw new Error("late") }', /create of lb gives a promise\n +make it a function/],
    [
      'an async prepare',
      'async prepare() { throw new Error("late") }',
      /sluice\.yaml:4:27: .*prepare of lb gives a promise\n +make it a function/,
    ],
    [
      'a prepare that throws no error',
      'prepare() { throw "no way" }',
      /sluice\.yaml:4:27: .*adapter .* cannot be loaded: no way/,
    ],
    [
      'a schema that throws',
      'options: { safeParse() { throw new Error("no schema") } }',
      /sluice\.yaml:4:\d+: .*options: cannot be checked: safeParse of adapter lb fails: no schema\n +mend the adapter/,
    ],
    [
      'a schema that gives a promise',
      'options: { async safeParse() { throw new Error("late") } }',
      /options: cannot be checked: safeParse of adapter lb fails: it gives a promise/,
    ],
  ])('%s', (name, more, message) => {
    const file = `./${name.replaceAll(' ', '-')}.mjs`
    write(file, `export default ${ADAPTER('contract: 1,', more)}`)
    const { refused } = load(file)
    expect(refused).toMatch(message)
    expect(refused).toMatch(/^ConfigError: .*sluice\.yaml.*loadBalancers\[0\]\.(adapter|options): /)
  })
})
