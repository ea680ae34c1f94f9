/** Tests that the examples of the README load. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load-config.ts'
import { serverLinesOf } from './upstream.ts'

const readme = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'sluice-nginx-readme-'))
afterAll(() => rmSync(folder, { recursive: true }))

function examples(language: string): string[] {
  return [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, text]) => text!)
}

test('two configs, and a file for them', async () => {
  const configs = examples('yaml')
  expect(configs).toHaveLength(2)
  for (const text of configs) {
    const file = join(folder, 'sluice.yaml')
    writeFileSync(file, `apiVersion: sluice.dev/v1\nkind: Config\n${text}`)
    expect((await loadConfig(file)).loadBalancers.map(({ name }) => name)).toEqual(['edge'])
  }
  expect(serverLinesOf(examples('nginx')[0]!, 'web').map(({ at }) => at.address)).toEqual(['10.0.0.1', '10.0.0.2'])
})
