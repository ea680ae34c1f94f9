import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adapterNames } from '../../adapters/registry.ts'
import { startChild } from './testing/child.ts'

const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-adapter-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

async function sluice(...args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const child = startChild([join(import.meta.dirname, 'sluice.ts'), 'adapter', ...args])
  return { code: await child.end(), stdout: child.stdout(), stderr: child.stderr() }
}

test('list has every adapter and preset, with what it is for', async () => {
  const { code, stdout } = await sluice('list')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^caddy +\S.*\.$/m)
  expect(stdout).toMatch(/^haproxy +\S.*\.$/m)
  const { adapters } = JSON.parse((await sluice('list', '-o', 'json')).stdout) as { adapters: { name: string }[] }
  expect(adapters.map(({ name }) => name)).toEqual(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' ')[0]),
  )
})

test('describe has each option with its type, its default, and what it is for', async () => {
  const { code, stdout } = await sluice('describe', 'exec')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^exec: A program of your own/)
  expect(stdout).toMatch(/^ {2}command {2}list of string, required\n {6}The program and its arguments\./m)
  expect(stdout).toMatch(/^ {2}capabilities\.maxBatch {2}integer, default 1$/m)
  const described = JSON.parse((await sluice('describe', 'exec', '-o', 'json')).stdout) as object
  expect(described).toMatchObject({
    kind: 'Adapter',
    name: 'exec',
    options: expect.arrayContaining([
      expect.objectContaining({
        path: 'capabilities.inFlight',
        type: 'exact | requests-only | none',
        required: false,
        default: 'none',
      }),
    ]) as unknown,
  })
})

test.each(adapterNames)(
  'describe has the fewest options of %s, which are right, and what is promised with these, as the README has it',
  async (name) => {
    const { stdout } = await sluice('describe', name, '-o', 'json')
    const { example } = JSON.parse(stdout) as { example: { options: unknown; guarantee: string; hazards: string[] } }
    expect(example.guarantee).toMatch(/^G[013]$/)
    const row = readme.split('\n').find((line) => line.startsWith('| [') && line.includes(`[${name}](`))!
    expect(row).toContain(name === 'http' ? '| G0 to G3' : `| ${example.guarantee} |`)
    const text = (await sluice('describe', name)).stdout
    for (const words of [`With these:\n  ${example.guarantee}: `, ...example.hazards]) expect(text).toContain(words)
  },
)

test('describe takes a plugin, found from the folder of the config', async () => {
  const options = '{ safeParse: (value) => ({ success: true, data: value }) }'
  const plugin = `export default { name: 'lb', summary: 'Mine.', contract: 1, options: ${options}, create: () => ({}) }`
  writeFileSync(join(folder, 'lb.mjs'), plugin)
  expect(await sluice('describe', './lb.mjs', '--config', join(folder, 'sluice.yaml'))).toMatchObject({
    code: 0,
    stdout: './lb.mjs: Mine.\n\nOptions:\n  none that is known\n',
  })
})

test('new writes a plugin that is a config, and says what is next', async () => {
  const target = join(folder, 'my lb')
  const { code, stdout } = await sluice('new', target, '--language', 'python')
  expect(code).toBe(0)
  expect(stdout).toContain(`Next:\n  cd '${target}'\n  sluice adapter test --bed ./bed.mjs\n`)
  expect(readdirSync(target)).toEqual(['README.md', 'bed.mjs', 'lb.py', 'load-balancer.mjs', 'sluice.yaml'])
  const again = await sluice('new', target, '--language', 'sh')
  expect(again).toMatchObject({ code: 2, stdout: '' })
  expect(again.stderr).toContain(`${target} is not empty: it has `)
  expect(again.stderr).toContain('Run "sluice adapter new --help" for its usage.')
  expect(readdirSync(target)).toHaveLength(5)
})

test('new as JSON has the names of the files', async () => {
  const { code, stdout } = await sluice('new', join(folder, 'json'), '--language', 'sh', '-o', 'json')
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toEqual({
    apiVersion: 'sluice.dev/v1',
    kind: 'AdapterScaffold',
    folder: join(folder, 'json'),
    language: 'sh',
    plugin: 'lb.sh',
    files: ['README.md', 'bed.mjs', 'lb.sh', 'load-balancer.mjs', 'sluice.yaml'],
  })
})

test.each([
  [['describe', 'haprxy'], 'there is no adapter "haprxy": did you mean "haproxy"?'],
  [['describe'], "missing required argument 'name'"],
  [['describe', './none.mjs'], 'adapter ./none.mjs cannot be loaded: '],
  [['show'], "unknown command 'show'"],
  [['list', 'haproxy'], "too many arguments for 'list'"],
  [['new', 'lb'], "required option '--language <language>' not specified"],
  [['new', 'lb', '--language', 'cobol'], 'Allowed choices are ts, js, python, sh.'],
])('%j is refused', async (args, message) => {
  expect(await sluice(...args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) as string })
})
