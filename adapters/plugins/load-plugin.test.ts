import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-plugins-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const ADAPTER = (contract: string) => `({
  name: 'lb', summary: 'For tests.', ${contract}
  options: { safeParse: (value) => ({ success: true, data: value }) },
  create: (options, { name, folder }) => ({ options, name, folder }),
})`

function write(path: string, content: string): void {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
}

/** Loads a config file of the folder in a process of its own, since vitest finds modules in its own way. */
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
const said = await loadConfig(process.env.CONFIG).then(
  ({ loadBalancers: [{ definition, options }], folder }) => ({ made: definition.create(options, { name: 'edge', folder }) }),
  ({ message }) => ({ refused: message }),
)
console.log(JSON.stringify(said))
`

test('a file beside the config, and a package that is installed there, are adapters', () => {
  write('lb.mjs', `export default ${ADAPTER('contract: 1,')}`)
  expect(load('./lb.mjs')).toEqual({ made: { options: { a: 1 }, name: 'edge', folder: '.' } })
  // For imports alone, which `require` does not find.
  const manifest = { name: '@acme/lb', type: 'module', exports: { '.': { import: './main.js' } } }
  write('node_modules/@acme/lb/package.json', JSON.stringify(manifest))
  write('node_modules/@acme/lb/main.js', `export const adapter = ${ADAPTER('contract: 1,')}`)
  expect(load('npm:@acme/lb')).toEqual({ made: { options: { a: 1 }, name: 'edge', folder: '.' } })
})

test.each([
  ['./missing.mjs', '', /adapter \.\/missing\.mjs cannot be loaded: .*[Cc]annot find module/],
  ['npm:@acme/none', '', /adapter npm:@acme\/none cannot be loaded: .*[Cc]annot find package/],
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
