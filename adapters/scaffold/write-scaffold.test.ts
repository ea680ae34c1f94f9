import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { LANGUAGES } from '../../src/cli/commands/adapter.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { languageNames, languages } from './languages.ts'
import { writeScaffold } from './write-scaffold.ts'

const ROOT = join(import.meta.dirname, '../..')

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-scaffold-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

test.each(languageNames)(
  '%s: what it writes has its plugin, programs that can be run, and nothing left to fill in',
  async (name) => {
    const target = join(folder, 'a/b')
    const files = await writeScaffold(target, name)
    expect(files).toEqual(readdirSync(target))
    expect(files).toEqual(
      expect.arrayContaining(['README.md', 'bed.mjs', 'load-balancer.mjs', 'sluice.yaml', languages[name].plugin]),
    )
    for (const file of files) {
      const text = readFileSync(join(target, file), 'utf8')
      expect(text).not.toContain('{{')
      expect((statSync(join(target, file)).mode & 0o111) !== 0, file).toBe(text.startsWith('#!'))
    }
    const readme = readFileSync(join(target, 'README.md'), 'utf8')
    for (const part of Object.values(languages[name])) expect(readme).toContain(part)
  },
)

test.each(['python', 'sh'] as const)('%s: its config is one that sluice takes, and names the plugin', async (name) => {
  await writeScaffold(folder, name)
  const { loadBalancers } = await loadConfig(join(folder, 'sluice.yaml'))
  expect(loadBalancers).toMatchObject([{ name: 'edge', adapter: 'exec', options: { command: [`./${languages[name].plugin}`] } }])
})

test('the packages that it names are those of this sluice', () => {
  const { version, dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    version: string
    dependencies: Record<string, string>
  }
  for (const name of ['ts', 'js']) {
    const text = readFileSync(join(import.meta.dirname, 'templates', name, 'package.json'), 'utf8')
    const own = JSON.parse(text) as { dependencies: Record<string, string> }
    expect(own.dependencies).toEqual({ sluice: `^${version}`, zod: dependencies['zod'] })
  }
})

test('the command line offers the languages that there are', () => {
  expect(LANGUAGES).toEqual(languageNames)
})

test('a folder that is not empty is refused by its name, and stays as it is', async () => {
  writeFileSync(join(folder, '.hidden'), '')
  await expect(writeScaffold(folder, 'js')).rejects.toThrow(`${folder} is not empty: it has .hidden`)
  expect(readdirSync(folder)).toEqual(['.hidden'])
  await expect(writeScaffold(join(folder, '.hidden'), 'js')).rejects.toThrow('.hidden is no folder')
})

test.skipIf(process.getuid?.() === 0)('a folder that cannot be written is named', async () => {
  mkdirSync(join(folder, 'closed'))
  chmodSync(join(folder, 'closed'), 0o500)
  await expect(writeScaffold(join(folder, 'closed/lb'), 'js')).rejects.toThrow('closed/lb cannot be written: EACCES')
})
