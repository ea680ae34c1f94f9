// Writes docs/config.schema.json and docs/plugin-documents.schema.json, from the schemas that check the config and plugins.
//   node scripts/write-schema.ts
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { documentSchemas } from '../adapters/plugins/documents.ts'
import { adapterNames, loadAdapter } from '../adapters/registry.ts'
import { configJsonSchema } from '../src/config/json-schema.ts'

const root = resolve(import.meta.dirname, '..')

/** Returns the JSON Schema of the config file, with the options of every adapter. */
async function currentSchema(): Promise<unknown> {
  const schema = configJsonSchema(await Promise.all(adapterNames.map((name) => loadAdapter(name))))
  return JSON.parse(JSON.stringify(schema))
}

/** Returns the JSON Schema of the documents that programs and servers get as plugins, and of their answers. */
export function documentsSchema(): unknown {
  const { request, list, change } = documentSchemas
  const schemaOf = (schema: z.ZodType): unknown => {
    const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
    return rest
  }
  return JSON.parse(
    JSON.stringify({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'https://sluice.dev/v1/plugin-documents.schema.json',
      description: 'What a plugin of the adapters exec and remote gets, and what it answers.',
      $defs: { request: schemaOf(request), answerToList: schemaOf(list), answerToChange: schemaOf(change) },
    }),
  )
}

/** Returns the up-to-date schemas, by file. */
export async function currentSchemas(): Promise<Record<string, unknown>> {
  return { 'docs/config.schema.json': await currentSchema(), 'docs/plugin-documents.schema.json': documentsSchema() }
}

if (process.argv[1] === join(import.meta.dirname, 'write-schema.ts')) {
  for (const [name, schema] of Object.entries(await currentSchemas())) {
    const file = join(root, name)
    writeFileSync(file, `${JSON.stringify(schema, null, 2)}\n`)
    const { status } = spawnSync(join(root, 'node_modules/.bin/oxfmt'), [file], { stdio: 'inherit' })
    if (status !== 0) throw new Error(`oxfmt failed: ${name} is written, and not formatted`)
    console.log(`${name} is written`)
  }
}
