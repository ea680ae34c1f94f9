import { z } from 'zod'
import type { AdapterDefinition } from '../../adapters/contract.ts'
import { API_VERSION, configSchema } from './schema.ts'

type JsonSchema = Record<string, unknown>

/** The JSON Schema of the config file, for editors: made from the zod schemas, with each adapter's options. */
export function configJsonSchema(adapters: readonly AdapterDefinition[]): JsonSchema {
  const schema = z.toJSONSchema(configSchema, { io: 'input' }) as JsonSchema
  const entry = (schema as { properties: { loadBalancers: { items: JsonSchema } } }).properties.loadBalancers.items
  const properties = entry['properties'] as Record<string, JsonSchema>
  properties['adapter'] = { ...properties['adapter'], enum: adapters.map(({ name }) => name) }
  entry['allOf'] = adapters.map(({ name, summary, options }) => {
    const { $schema: _dialect, ...optionsSchema } = z.toJSONSchema(options, { io: 'input', unrepresentable: 'any' })
    const required = (optionsSchema.required ?? []).length > 0 ? ['options'] : []
    return {
      if: { properties: { adapter: { const: name } }, required: ['adapter'] },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema; nobody awaits this
      then: { properties: { options: { description: summary, ...optionsSchema } }, required },
    }
  })
  return { ...schema, $id: `https://${API_VERSION}/config.schema.json` }
}
