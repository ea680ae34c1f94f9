import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load-config.ts'
import { configSchema } from '../../src/config/schema.ts'
import { blocks, page, pages } from './pages.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-docs-'))
afterAll(() => rmSync(folder, { recursive: true }))

const examples = pages().flatMap((one) =>
  blocks(one)
    .filter(({ language, code }) => language === 'yaml' && code.includes('kind: Config\n'))
    .map(({ code }, index) => ({ name: `${one.file}, example ${index + 1}`, code })),
)

test('there are examples of the config', () => {
  expect(examples.length).toBeGreaterThan(1)
})

test.each(examples)('$name is a config that sluice takes', async ({ code }) => {
  const file = join(folder, 'sluice.yaml')
  writeFileSync(file, code)
  await expect(loadConfig(file)).resolves.toMatchObject({ file })
})

test('docs/config.md explains every key', () => {
  const { text } = page('docs/config.md')
  const keys = (['drain', 'rollout', 'deadlines'] as const).flatMap((section) =>
    Object.keys(configSchema.shape[section].def.innerType.shape).map((key) => `${section}.${key}`),
  )
  const entry = Object.keys(configSchema.shape.loadBalancers.element.shape).map((key) => `loadBalancers[].${key}`)
  const explained = [...text.matchAll(/^\| `([\w.[\]]+)` \|/gm)].map(([, key]) => key)
  expect(explained.sort()).toEqual(['apiVersion', 'kind', ...entry, ...keys].sort())
})
