/** A preset: the options for one product, with parameters. A config uses a preset like an adapter. */
import { z } from 'zod'
import { parseDuration } from '../../src/config/duration.ts'
import type { AdapterDefinition } from '../contract.ts'
import { secretSource } from '../credentials/secret.ts'
import { url } from '../http-client/connection-fields.ts'
import { httpFields, type HttpOptions } from './fields.ts'
import { fill, type Use, usesOf } from './fill.ts'
import { createHttpAdapter, documentOf } from './index.ts'
import { httpOptions } from './options.ts'

const TYPES = ['text', 'path', 'url', 'integer', 'number', 'boolean', 'duration', 'secret'] as const

/** Options that a config sets beside the parameters if the preset does not set them. */
const CONNECTION = ['url', 'auth', 'headers', 'tls', 'allowPlainHttp'] as const

const RESERVED = new Set<string>(['preset', ...Object.keys(httpFields.shape)])

const parameterName = z
  .string()
  .regex(/^[a-z][A-Za-z0-9]*$/, 'is no name of a parameter\nuse letters and digits, a small letter first')
  .refine((name) => !RESERVED.has(name), 'is the name of an option of the adapter http\nchoose another one')

const parameter = z
  .strictObject({
    type: z.enum(TYPES),
    description: z.string().min(1),
    required: z.boolean().default(false),
    default: z.union([z.string(), z.number(), z.boolean()]).optional(),
    values: z.array(z.string()).min(1).optional(),
  })
  .superRefine((one, context) => {
    const says = (path: string[], message: string): void => context.addIssue({ code: 'custom', path, message })
    if (one.required && one.default !== undefined) says(['default'], 'stands beside required: true\nremove one of the two')
    if (one.values !== undefined && one.type !== 'text') says(['values'], 'needs type: text')
    if (one.default === undefined) return
    if (!valueSchema(one).safeParse(one.default).success) says(['default'], `is no value of a parameter of type ${one.type}`)
  })

export type Parameter = z.infer<typeof parameter>

/** The schema of a preset file. The filled options must be valid options of the adapter http: see `sampleOptions`. */
export const presetFields = z.strictObject({
  apiVersion: z.literal('sluice.dev/v1'),
  kind: z.literal('Preset'),
  name: z.string().regex(/^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/, 'is no name\nuse small letters, digits and "-"'),
  summary: z.string().regex(/\.$/, 'is no sentence\nend it with a full stop'),
  parameters: z.record(parameterName, parameter).default({}),
  overridable: z.array(z.string().regex(/^\w+(\.\w+)*$/)).default([]),
  options: z.record(z.string(), z.unknown()),
})

export type Preset = z.infer<typeof presetFields>

export type Values = Record<string, unknown>

/** A problem of a preset. `path` is within the file. The second line of `message` is optional and tells the solution. */
export interface PresetProblem {
  path: PropertyKey[]
  message: string
}

function durationMessage({ input }: { input?: unknown }): string {
  const parsed = parseDuration(input)
  return parsed.ok ? 'is not understood' : `${parsed.reason}\n${parsed.hint}`
}

function valueSchema({ type, values }: Pick<Parameter, 'type' | 'values'>): z.ZodType {
  switch (type) {
    case 'text':
      return values === undefined ? z.string().regex(/^[^\p{Cc}\p{Cs}]*$/u, 'holds characters that are no text') : z.enum(values)
    case 'path':
      return z
        .string()
        .regex(/^[^\p{Cc}\p{Cs}]+$/u, 'holds characters that are no text')
        .refine((text) => !text.split('/').some((name) => /^\.{0,2}$/.test(name)), 'is no path\nwrite names with / between them')
    case 'url':
      return url
    case 'integer':
      return z.int()
    case 'number':
      return z.number()
    case 'boolean':
      return z.boolean()
    case 'duration':
      return z.string({ error: durationMessage }).refine((text) => parseDuration(text).ok, { error: durationMessage })
    case 'secret':
      return secretSource
  }
}

/** A valid sample value for a parameter. */
function sampleOf({ type, values, default: given }: Parameter): unknown {
  const samples = {
    text: 'x',
    path: 'x/y',
    url: 'http://localhost',
    integer: 1,
    number: 1,
    boolean: true,
    duration: '1s',
    secret: { env: 'X' },
  }
  return given ?? values?.[0] ?? samples[type]
}

/** The minimum options of a config. The sample of a text is its name in capitals. */
function exampleOf({ parameters, options }: Preset): Record<string, unknown> {
  const needed = Object.entries(parameters).filter(([, one]) => one.required)
  const values = needed.map(([name, one]) => {
    const capitals = name.toUpperCase()
    if (one.type === 'secret') return [name, { env: capitals }]
    return [name, one.type === 'path' || (one.type === 'text' && one.values === undefined) ? capitals : sampleOf(one)]
  })
  return { ...('url' in options ? {} : { url: 'http://localhost' }), ...(Object.fromEntries(values) as object) }
}

/** The problems of the parameters. `sampleOptions` gives the filled options for more checks. */
export function presetProblems(preset: Preset): PresetProblem[] {
  const { parameters, options, overridable } = preset
  const names = Object.keys(parameters)
  const found: PresetProblem[] = []
  const used = new Set<string>()
  for (const use of usesOf(options)) {
    const message = useProblem(use, parameters)
    if (message !== undefined) found.push({ path: ['options', ...use.path], message })
    used.add(use.name)
  }
  for (const name of names)
    if (!used.has(name)) found.push({ path: ['parameters', name], message: `is used nowhere\nwrite $(${name}) where it belongs` })
  for (const [index, field] of overridable.entries())
    if (fieldSchema(field) === undefined)
      found.push({ path: ['overridable', index], message: 'is no option of the adapter http' })
  return found
}

/** The options filled with sample values: once for all parameters, and once for those that are required or have a default. */
export function sampleOptions(preset: Preset): Record<string, unknown>[] {
  const entries = Object.entries(preset.parameters)
  const needed = entries.filter(([, one]) => one.required || one.default !== undefined)
  return [entries, needed].map((some) => {
    const values = Object.fromEntries(some.map(([name, one]) => [name, sampleOf(one)]))
    return filledWith(preset, values, 'url' in preset.options ? {} : { url: 'http://localhost' })
  })
}

function useProblem({ name, problem, isWhole, isCel }: Use, parameters: Preset['parameters']): string | undefined {
  if (problem !== undefined) return problem
  const one = Object.hasOwn(parameters, name) ? parameters[name] : undefined
  if (one === undefined) return `$(${name}) is no parameter\nthere are: ${Object.keys(parameters).join(', ') || 'none'}`
  if (one.type === 'secret' && !isWhole) return `$(${name}) is a secret, which can only be all of a field`
  const mayBeAbsent = !one.required && one.default === undefined
  if (mayBeAbsent && !isWhole && !isCel)
    return `$(${name}) may have no value, and is a part of the text here\ngive the parameter a default, or required: true`
  return undefined
}

/** The schema of an option such as `capabilities.settle`, without its default. */
function fieldSchema(field: string): z.ZodType | undefined {
  let schema: z.ZodType | undefined = httpFields
  for (const key of field.split('.')) {
    const bare = withoutDefault(schema)
    schema =
      bare instanceof z.ZodObject && Object.hasOwn(bare.shape, key) ? (bare.shape as Record<string, z.ZodType>)[key] : undefined
    if (schema === undefined) return undefined
  }
  return withoutDefault(schema)
}

function withoutDefault(schema: z.ZodType): z.ZodType {
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault
  return isWrapped ? withoutDefault(schema.unwrap() as z.ZodType) : schema
}

interface Shape {
  [key: string]: z.ZodType | Shape
}

/** The overridable fields as a nested shape: `{capabilities: {settle}}`. */
function overridesOf({ overridable, options }: Preset): Shape {
  const shape: Shape = {}
  for (const field of overridable) {
    const keys = field.split('.')
    const last = keys.pop()!
    let inner = shape
    for (const key of keys) inner = (inner[key] ??= {}) as Shape
    const own = field.split('.').reduce<unknown>((value, key) => (isMap(value) ? value[key] : undefined), options)
    const words = own === undefined ? 'which it leaves open' : `which is ${JSON.stringify(own)}`
    inner[last] = fieldSchema(field)!.describe(`In place of what the preset says, ${words}.`)
  }
  return shape
}

function schemaOf(shape: Shape): Record<string, z.ZodType> {
  return Object.fromEntries(
    Object.entries(shape).map(([key, inner]) => [
      key,
      (inner instanceof z.ZodType ? inner : z.strictObject(schemaOf(inner))).optional(),
    ]),
  )
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function merged(base: unknown, over: unknown): unknown {
  if (!isMap(base) || !isMap(over)) return over
  return Object.entries(over).reduce(
    (all, [key, value]) => ({ ...all, [key]: key in all ? merged(all[key], value) : value }),
    base,
  )
}

function filledWith({ options, parameters }: Preset, values: Values, given: Record<string, unknown>): Record<string, unknown> {
  const filled = fill(options, {
    values,
    isPath: (name) => parameters[name]?.type === 'path',
    isInteger: (name) => parameters[name]?.type === 'integer',
  })
  // The config adds to the options of the preset, and replaces its overridable fields. Any other overlap is refused earlier.
  return merged({ ...given, ...(filled as Record<string, unknown>) }, given) as Record<string, unknown>
}

/** The problems of headers in the config. A config must not set a header that the preset sets. */
function headerProblems({ options }: Preset, { headers }: Record<string, unknown>): PresetProblem[] {
  if (!isMap(headers) || !isMap(options['headers'])) return []
  const own = new Set(Object.keys(options['headers']).map((name) => name.toLowerCase()))
  return Object.keys(headers).flatMap((name) =>
    own.has(name.toLowerCase()) ? [{ path: ['headers', name], message: 'is set by the preset\nremove it' }] : [],
  )
}

/** Makes an adapter from the preset. The preset must have no `presetProblems`, and its `sampleOptions` must be valid `httpOptions`. */
export function definePreset(preset: Preset): AdapterDefinition<HttpOptions> {
  const { name, summary, parameters, options } = preset
  const shape = Object.fromEntries(
    Object.entries(parameters).map(([key, one]) => {
      const schema = valueSchema(one).describe(one.description)
      return [key, one.required ? schema : one.default === undefined ? schema.optional() : schema.default(one.default)]
    }),
  )
  const isOwn = (key: string): boolean => key in options || (key === 'auth' && 'login' in options)
  const connection = CONNECTION.filter((key) => key === 'headers' || !isOwn(key) || preset.overridable.includes(key))
  const beside = connection.map((key) => [key, key in options ? httpFields.shape[key].optional() : httpFields.shape[key]])
  const schema = z
    .strictObject({ ...shape, ...Object.fromEntries(beside), ...schemaOf(overridesOf(preset)) })
    .transform((given: Record<string, unknown>, context): HttpOptions => {
      const isParameter = ([key]: [string, unknown]): boolean => Object.hasOwn(parameters, key)
      const entries = Object.entries(given).filter(([, value]) => value !== undefined)
      const values = Object.fromEntries(entries.filter(isParameter))
      const others = Object.fromEntries(entries.filter((entry) => !isParameter(entry)))
      const problems = headerProblems(preset, others)
      const parsed = httpOptions.safeParse(filledWith(preset, values, others))
      if (problems.length === 0 && parsed.success) return parsed.data
      const issues = parsed.success ? [] : parsed.error.issues
      for (const { path, message } of problems) context.addIssue({ code: 'custom', path, message })
      for (const { path, message } of issues) context.addIssue(issueOf(preset, others, path, message))
      return z.NEVER
    })
  return {
    name,
    summary,
    options: schema as unknown as z.ZodType<HttpOptions>,
    example: exampleOf(preset),
    document: documentOf,
    create: (filled, context) => createHttpAdapter(filled, `${name} ${context.name}`),
  }
}

/** Puts an issue at the field of the config from which it comes: an option beside the parameters, or the parameter that the option uses. */
function issueOf(
  preset: Preset,
  others: Values,
  path: PropertyKey[],
  message: string,
): { code: 'custom'; path: PropertyKey[]; message: string } {
  if (Object.hasOwn(others, String(path[0]))) return { code: 'custom', path, message }
  const inPreset = path.map(String).join('.')
  const uses = usesOf(preset.options).filter((use) => use.path.map(String).join('.') === inPreset)
  const names = new Set(uses.map((use) => use.name))
  const [only] = names
  const [text, way] = message.split('\n')
  const words = `gives ${inPreset} of the preset ${preset.name} a value that cannot be used: ${text}${way === undefined ? '' : `\n${way}`}`
  return { code: 'custom', path: names.size === 1 ? [only!] : [], message: words }
}
