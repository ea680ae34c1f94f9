/** Checks of the code of an adapter. A plugin in JavaScript has no check by TypeScript. */
import { z } from 'zod'
import { issues } from './entry.ts'

const aFunction = z.custom((value) => typeof value === 'function', 'must be a function')

const capabilities = z.strictObject({
  guarantee: z.enum(['G0', 'G1', 'G2', 'G3']).optional(),
  maxBatch: z.int().min(1).optional(),
  inspect: z.enum(['strong', 'eventual']).optional(),
  inFlight: z.enum(['exact', 'requests-only', 'none']),
  volatileOnReload: z.boolean(),
  disruptsOthers: z.boolean().optional(),
  settleMs: z.number().min(0),
  longestJobMs: z.number().min(1).optional(),
  longestEmptyingMs: z.number().min(1).optional(),
})

/** The capabilities of an adapter itself. They have no defaults. */
const wholeCapabilities = capabilities
  .required({ guarantee: true, maxBatch: true, disruptsOthers: true })
  .extend({ inspect: z.enum(['strong', 'eventual', 'none']) })

const adapter = z.looseObject({
  capabilities: wholeCapabilities,
  resolve: aFunction,
  inspect: aFunction,
  snapshot: aFunction,
  drain: aFunction,
  restore: aFunction,
  rehearse: aFunction.optional(),
  entryOf: aFunction.optional(),
  reaches: aFunction.optional(),
  close: aFunction,
})

/** The problems of an adapter, each field with its value. Undefined if the adapter is valid. */
export function adapterProblem(value: unknown): string | undefined {
  const checked = adapter.safeParse(value)
  return checked.success ? undefined : issues(checked.error, value)
}

const code = z.looseObject({
  name: z.string().min(1),
  summary: z.string().min(1),
  options: z.custom(
    (value) => typeof (value as { safeParse?: unknown } | undefined)?.safeParse === 'function',
    'must be a schema of zod 4, such as z.strictObject({…})',
  ),
  capabilities: z.union([aFunction, z.record(z.string(), z.unknown())], 'must be an object, or a function that gives one'),
  prepare: aFunction.optional(),
  document: aFunction.optional(),
  open: aFunction,
})

/** @throws TypeError that names each wrong field, its value, and the expected value */
export function assertCode(value: unknown): void {
  const checked = code.safeParse(value)
  if (!checked.success) throw new TypeError(`defineAdapter: ${issues(checked.error, value)}`)
  const { name, capabilities: said } = checked.data
  if (typeof said !== 'function') assertCapabilities(name, said)
}

/** @throws TypeError that names each wrong field, its value, and the expected value */
export function assertCapabilities(name: string, value: unknown): void {
  const checked = capabilities.safeParse(value)
  if (!checked.success) throw new TypeError(`defineAdapter: capabilities of ${name}: ${issues(checked.error, value)}`)
}
