import { stringify } from 'yaml'
import { z } from 'zod'
import type { AdapterDefinition } from '../../../adapters/contract.ts'
import { guaranteeWords, hazardWords } from '../../report/words/guarantees.ts'
import { shellQuote } from '../../report/words/shell-quote.ts'
import { inert } from './inert.ts'

export interface DescribedAdapter {
  name: string
  summary: string
  options: DescribedOption[]
  /** The smallest set of options, and the guarantee of the load balancer with them. */
  example?: DescribedExample
}

export interface DescribedExample {
  options: unknown
  guarantee: string
  /** The hazards in words. */
  hazards: string[]
}

/** A field of `options` in the config. Each field of a mapping is a field of its own. */
export interface DescribedOption {
  /** The path of the field, such as `capabilities.settle`. */
  path: string
  type: string
  required: boolean
  default?: unknown
  description?: string
}

interface JsonSchema {
  type?: string | string[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  anyOf?: JsonSchema[]
  enum?: unknown[]
  const?: unknown
  items?: JsonSchema
  default?: unknown
  description?: string
}

/** Describes an adapter by the schema of its options. A plugin may use another zod, whose schema does not reveal its fields. */
export async function describeAdapter(name: string, definition: AdapterDefinition): Promise<DescribedAdapter> {
  const { summary, options } = definition
  const example = await exampleOf(definition)
  return { name, summary, options: optionsOf(schemaOf(options)), ...(example === undefined ? {} : { example }) }
}

/** Returns undefined where the adapter has no example, or where this machine lacks a requirement of it, such as a package. */
async function exampleOf({ options, example, create }: AdapterDefinition): Promise<DescribedExample | undefined> {
  const parsed = example === undefined ? undefined : options.safeParse(example)
  if (parsed?.success !== true) return undefined
  try {
    const adapter = create(parsed.data, { name: 'example' })
    const { guarantee, ...known } = adapter.capabilities
    await adapter.close()
    return { options: example, guarantee, hazards: hazardWords(known) }
  } catch {
    return undefined
  }
}

function schemaOf(options: z.ZodType): JsonSchema {
  try {
    return z.toJSONSchema(options, { io: 'input', unrepresentable: 'any' }) as JsonSchema
  } catch {
    return {}
  }
}

function optionsOf({ properties = {}, required = [] }: JsonSchema, prefix = ''): DescribedOption[] {
  return Object.entries(properties).flatMap(([key, field]) => {
    const { description, default: usual } = field
    const own: DescribedOption = {
      path: `${prefix}${key}`,
      type: typeOf(field),
      required: required.includes(key),
      ...(usual === undefined || typeof usual === 'object' ? {} : { default: usual }),
      ...(description === undefined ? {} : { description }),
    }
    return [own, ...optionsOf(field, `${own.path}.`)]
  })
}

function typeOf({ type, enum: values, const: only, anyOf, items }: JsonSchema): string {
  if (values !== undefined) return values.map(String).join(' | ')
  if (only !== undefined) return String(only)
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeOf))].join(' | ')
  if (type === 'array') return `list of ${items === undefined ? 'any' : typeOf(items)}`
  if (type === 'object') return 'mapping'
  return Array.isArray(type) ? type.join(' | ') : (type ?? 'any')
}

export function adapterListText(adapters: readonly { name: string; summary: string }[]): string {
  const width = Math.max(...adapters.map(({ name }) => name.length))
  return adapters.map(({ name, summary }) => `${name.padEnd(width)}  ${inert(summary)}\n`).join('')
}

function exampleLines({ options, guarantee, hazards }: DescribedExample): string[] {
  return [
    'The fewest options:',
    ...stringify({ options })
      .trimEnd()
      .split('\n')
      .map((line) => `  ${line}`),
    '',
    'With these:',
    `  ${guaranteeWords(guarantee)}`,
    ...hazards.map((hazard) => `  ${hazard}`),
    '',
  ]
}

export function adapterText({ name, summary, options, example }: DescribedAdapter): string {
  const lines = options.flatMap(({ path, type, required, default: usual, description }) => [
    `  ${path}  ${type}${required ? ', required' : ''}${usual === undefined ? '' : `, default ${String(usual)}`}`,
    ...(description === undefined ? [] : [`      ${description}`]),
  ])
  const shown = lines.length === 0 ? ['  none that is known'] : lines
  return [`${name}: ${summary}`, '', ...(example === undefined ? [] : exampleLines(example)), 'Options:', ...shown, '']
    .map((line) => `${inert(line)}\n`)
    .join('')
    .replace(/\n\n$/, '\n')
}

/** The files that `adapter new` has written. */
export interface WrittenScaffold {
  /** The folder as it was given. */
  folder: string
  language: string
  /** The file that the author of the adapter changes. */
  plugin: string
  files: string[]
}

export function scaffoldText({ folder, plugin, files }: WrittenScaffold, program: string): string {
  const steps = [
    `cd ${shellQuote([folder])}`,
    ...(files.includes('package.json') ? ['npm install'] : []),
    `${program} adapter test --bed ./bed.mjs`,
  ]
  const lines = [`${plugin} is the plugin, and README.md says how to make it yours. Next:`, ...steps.map((step) => `  ${step}`)]
  return lines.map((line) => `${inert(line)}\n`).join('')
}
