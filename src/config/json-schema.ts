import { z } from 'zod'
import type { AdapterDefinition } from '../../adapters/contract.ts'
import { presetNames } from '../../adapters/registry.ts'
import { API_VERSION, configSchema } from './schema.ts'

type JsonSchema = Record<string, unknown>

/** The JSON Schema of the config file, for editors. It is generated from the zod schemas, with the options of each adapter. */
export function configJsonSchema(adapters: readonly AdapterDefinition[]): JsonSchema {
  const schema = z.toJSONSchema(configSchema, { io: 'input' }) as JsonSchema
  const entry = (schema as { properties: { loadBalancers: { items: JsonSchema } } }).properties.loadBalancers.items
  const properties = entry['properties'] as Record<string, JsonSchema>
  const { minLength: _, ...named } = properties['adapter']!
  // A plugin is a package, or a file beside the config.
  properties['adapter'] = {
    ...named,
    anyOf: [{ enum: adapters.map(({ name }) => name) }, { pattern: String.raw`^(npm:|\.{0,2}/)` }],
  }
  const presets = adapters.filter(({ name }) => presetNames.includes(name))
  entry['allOf'] = adapters.map((adapter) => {
    const { name } = adapter
    const options = optionsSchema(adapter)
    const required = (options['required'] as string[] | undefined)?.length ? ['options'] : []
    const own = name === 'http' && presets.length > 0 ? withPresets(options, presets) : options
    return {
      if: { properties: { adapter: { const: name } }, required: ['adapter'] },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema; no code awaits this object
      then: { properties: { options: own }, required },
    }
  })
  return { ...schema, $id: `https://${API_VERSION}/config.schema.json` }
}

function optionsSchema({ summary, options }: AdapterDefinition): JsonSchema {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(options, { io: 'input', unrepresentable: 'any' })
  return { description: summary, ...schema }
}

/**
 * The options of an adapter with presets: its own options, or `preset` with the options of the preset. The options of a preset file are not
 * known here.
 */
function withPresets(options: JsonSchema, presets: readonly AdapterDefinition[]): JsonSchema {
  const named = presets.map((preset) => {
    const { properties, required, ...schema } = optionsSchema(preset) as { properties: object; required?: string[] }
    return { ...schema, properties: { preset: { const: preset.name }, ...properties }, required: ['preset', ...(required ?? [])] }
  })
  const file = {
    description: 'A preset of your own: a file, found from the folder of the config.',
    type: 'object',
    properties: { preset: { type: 'string', pattern: String.raw`/|\.ya?ml$` } },
    required: ['preset'],
  }
  return { anyOf: [options, ...named, file] }
}
