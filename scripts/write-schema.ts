// Writes docs/config.schema.json, from the schemas that check the config.
//   node scripts/write-schema.ts
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { adapterNames, loadAdapter } from '../adapters/registry.ts'
import { configJsonSchema } from '../src/config/json-schema.ts'

const root = resolve(import.meta.dirname, '..')

/** The JSON Schema of the config file, with the options of every adapter. */
export async function currentSchema(): Promise<unknown> {
  const schema = configJsonSchema(await Promise.all(adapterNames.map((name) => loadAdapter(name))))
  return JSON.parse(JSON.stringify(schema))
}

if (process.argv[1] === join(import.meta.dirname, 'write-schema.ts')) {
  const file = join(root, 'docs/config.schema.json')
  writeFileSync(file, `${JSON.stringify(await currentSchema(), null, 2)}\n`)
  const { status } = spawnSync(join(root, 'node_modules/.bin/oxfmt'), [file], { stdio: 'inherit' })
  if (status !== 0) throw new Error('oxfmt failed: docs/config.schema.json is written, and not formatted')
  console.log('docs/config.schema.json is written')
}
