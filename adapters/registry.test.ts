import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { adapterNames, loadAdapter, presetNames } from './registry.ts'

const NOT_ADAPTERS = new Set(['conformance', 'credentials', 'document', 'host', 'http-client', 'presets', 'plugins', 'scaffold'])
const withCode = adapterNames.filter((name) => !presetNames.includes(name))

test('every folder is registered, and nothing else', () => {
  const folders = readdirSync(import.meta.dirname, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !NOT_ADAPTERS.has(entry.name))
    .map(({ name }) => name)
  expect(withCode.toSorted()).toEqual(folders.sort())
})

test('every file of a preset is registered, and nothing else', () => {
  const files = readdirSync(`${import.meta.dirname}/presets`).filter((file) => file.endsWith('.yaml'))
  expect(presetNames.map((name) => `${name}.yaml`).toSorted()).toEqual(files.sort())
})

test.each([...presetNames])('%s is a preset of that name, which refuses what it does not know', async (name) => {
  const definition = await loadAdapter(name)
  expect(definition.name).toBe(name)
  const unknownKey = definition.options.safeParse({ noSuchOption: 1 })
  expect(JSON.stringify(unknownKey.error?.issues)).toContain('noSuchOption')
})

test.each(withCode)('%s has the anatomy of an adapter', async (name) => {
  const definition = await loadAdapter(name)
  expect(definition.name).toBe(name)
  expect(definition.summary).toMatch(/\.$/)
  expect(readdirSync(`${import.meta.dirname}/${name}`)).toEqual(expect.arrayContaining(['README.md', 'index.ts', 'options.ts']))
  const unknownKey = definition.options.safeParse({ noSuchOption: 1 })
  expect(JSON.stringify(unknownKey.error?.issues)).toContain('noSuchOption')
})

test('an unknown adapter is refused by name', async () => {
  await expect(loadAdapter('toString')).rejects.toThrow(`There is no adapter toString; there are: ${adapterNames.join(', ')}`)
})
