/**
 * What is said to a plugin that is a program or a server, and what it answers: one JSON document each way. An answer is checked in every
 * part before any of it is believed.
 */
import { z } from 'zod'
import { canonicalAddress } from '../address.ts'
import { AdapterError, type AdapterErrorKind, type EffectResult, type Json } from '../contract.ts'
import { type ChangeResults, type Entry, type Former, resultKey } from '../define-adapter.ts'

/** Of the documents. A plugin refuses a version that it does not know. */
export const DOCUMENT_VERSION = 1

const LONGEST_NAME = 512
const LONGEST_TEXT = 2_000
/** A journal has 4 KB for all targets of a pod. */
const LARGEST_PRIOR_BYTES = 1_000
const MOST_ENTRIES = 100_000

const name = z
  .string()
  .min(1)
  .max(LONGEST_NAME)
  .regex(/^[^\p{C}]+$/u, 'has control characters')
const text = z.string().max(LONGEST_TEXT)
const state = z.enum(['in', 'draining', 'out'])
const prior = z
  .json()
  .refine(
    (value) => Buffer.byteLength(JSON.stringify(value)) <= LARGEST_PRIOR_BYTES,
    `is longer than ${LARGEST_PRIOR_BYTES} bytes`,
  )

const entry = z.strictObject({
  name: name.describe('Names the entry within its scope, whatever address it has.'),
  scope: name.optional().describe('The part of the load balancer that is written one call at a time. Default: all of it.'),
  address: z
    .string()
    .min(1)
    .max(LONGEST_NAME)
    .regex(/^[^\s@[\]]+$/, 'is no address: write an IP or a host name, without a port'),
  port: z.int().min(1).max(65_535),
  state: state.describe('draining: what drain does. out: what an operator has done besides, and neither drain nor restore ends.'),
  routable: z.boolean().optional().describe('false: in rotation, and without requests, by its health checks for instance.'),
  weight: z.number().min(0).optional().describe('0 is out of rotation.'),
  inFlight: z.int().min(0).nullable().optional().describe('Requests or connections under way; null or absent: not known.'),
  prior: prior.optional().describe('What restore puts back besides the state. Default: the weight.'),
  detail: text.optional().describe('For a person.'),
})

const KINDS = ['retryable', 'throttled', 'not-found', 'conflict', 'fatal', 'ambiguous'] as const satisfies AdapterErrorKind[]

const failure = z.strictObject({
  kind: z
    .enum(KINDS)
    .describe(
      'retryable: not sent or not done. throttled: refused for now. not-found: there is no such entry. conflict: somebody else has changed ' +
        'it meanwhile. fatal: trying again cannot help. ambiguous: it may have been done.',
    ),
  message: z.string().min(1).max(LONGEST_TEXT),
  retryAfterMs: z.int().min(0).optional(),
})

const v = z.literal(DOCUMENT_VERSION)
const failed = z.strictObject({ v, error: failure })
const listed = z.strictObject({ v, entries: z.array(entry).max(MOST_ENTRIES) })
const result = z.union([
  z.strictObject({ name, scope: name.optional(), outcome: z.literal('applied'), detail: text.optional() }),
  z.strictObject({ name, scope: name.optional(), outcome: z.literal('failed'), error: failure }),
])
const changed = z.strictObject({ v, results: z.array(result).max(MOST_ENTRIES).optional() })

const common = {
  v,
  loadBalancer: z.string().describe('Its name in the config.'),
  settings: z.json().describe('What the config has under options.settings, as it is written there.'),
  deadlineMs: z.int().min(0).describe('The answer is to be there in so many milliseconds.'),
}
const epoch = z.int().min(0).describe('Grows each time the owner of the workload changes: a lower one than before is late.')
const operation = z.string().describe('The same for every try of the same change of this entry, whoever tries.')
const changing = entry.extend({ operation })
const request = z.discriminatedUnion('call', [
  z.strictObject({ ...common, call: z.literal('list') }),
  z.strictObject({ ...common, call: z.literal('drain'), fence: epoch, entries: z.array(changing).min(1) }),
  z.strictObject({
    ...common,
    call: z.literal('restore'),
    fence: epoch,
    entries: z
      .array(changing.extend({ former: z.strictObject({ state, prior }).describe('What it was before it was drained.') }))
      .min(1),
  }),
])

export type PluginRequest = z.output<typeof request>

/** What a plugin gets, and what it answers: for JSON Schema. */
export const documentSchemas = { request, list: z.union([listed, failed]), change: z.union([changed, failed]) }

/** What is wrong with an answer. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError'
}

function read<Value>(schema: z.ZodType<Value>, answer: string, component: string): Value {
  let raw: unknown
  try {
    raw = JSON.parse(answer)
  } catch {
    throw new AnswerError(answer.trim() === '' ? 'it has answered nothing' : 'its answer is no JSON document')
  }
  const said = failed.safeParse(raw)
  if (said.success) throw errorOf(component, said.data.error)
  const parsed = schema.safeParse(raw)
  if (!parsed.success) throw new AnswerError(`its answer is not right: ${issues(parsed.error)}`)
  return parsed.data
}

function errorOf(component: string, { kind, message, retryAfterMs }: z.output<typeof failure>): AdapterError {
  return new AdapterError(component, kind, message, retryAfterMs === undefined ? {} : { retryAfterMs })
}

const SHOWN_ISSUES = 3

function issues(error: z.ZodError): string {
  const all = error.issues.map(({ path, message }) => {
    const field = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('')
    return `${field.replace(/^\./, '') || 'the document'}: ${message}`
  })
  const more = all.length > SHOWN_ISSUES ? `; and ${all.length - SHOWN_ISSUES} more` : ''
  return `${all.slice(0, SHOWN_ISSUES).join('; ')}${more}`
}

/**
 * @throws AdapterError that the plugin has given
 * @throws AnswerError where its answer cannot be believed
 */
export function readEntries(answer: string, component: string): Entry[] {
  const { entries } = read(listed, answer, component)
  const seen = new Set<string>()
  for (const one of entries) {
    const key = JSON.stringify([one.scope, one.name, canonicalAddress(one.address), one.port])
    if (seen.has(key)) throw new AnswerError(`its answer has the entry ${one.name} at ${one.address}:${one.port} twice`)
    seen.add(key)
  }
  return entries as Entry[]
}

/** Throws as `readEntries` does. */
export function readResults(answer: string, component: string, asked: readonly Entry[]): ChangeResults | undefined {
  const { results } = read(changed, answer, component)
  if (results === undefined) return undefined
  const keys = new Set(asked.map(resultKey))
  const found = new Map<string, EffectResult>()
  for (const one of results) {
    const key = resultKey(one as Pick<Entry, 'name' | 'scope'>)
    if (!keys.has(key)) throw new AnswerError(`its answer is about ${one.name}, which it was not asked for`)
    if (found.has(key)) throw new AnswerError(`its answer has two results for ${one.name}`)
    found.set(key, resultOf(one, component))
  }
  const missing = asked.find((one) => !found.has(resultKey(one)))
  if (missing !== undefined) throw new AnswerError(`its answer has no result for ${missing.name}`)
  return found
}

function resultOf(one: z.output<typeof result>, component: string): EffectResult {
  if (one.outcome === 'failed') return { outcome: 'failed', error: errorOf(component, one.error) }
  return one.detail === undefined ? { outcome: 'applied' } : { outcome: 'applied', detail: one.detail }
}

/** The request of one call. */
export interface Asking {
  loadBalancer: string
  settings: Json
}

export function listRequest({ loadBalancer, settings }: Asking, deadlineMs: number): PluginRequest {
  return requestOf({ call: 'list', loadBalancer, settings, deadlineMs: whole(deadlineMs) })
}

interface Changing {
  deadlineMs: number
  fence: number
  operationOf(entry: Entry): string
}

export function drainRequest(
  asking: Asking,
  entries: readonly Entry[],
  { deadlineMs, fence, operationOf }: Changing,
): PluginRequest {
  const named = entries.map((one) => ({ ...one, operation: operationOf(one) }))
  return requestOf({ call: 'drain', ...asking, deadlineMs: whole(deadlineMs), fence, entries: named })
}

export function restoreRequest(
  asking: Asking,
  formers: readonly Former[],
  { deadlineMs, fence, operationOf }: Changing,
): PluginRequest {
  const entries = formers.map(({ entry: one, state: was, prior: had }) => ({
    ...one,
    operation: operationOf(one),
    former: { state: was, prior: had },
  }))
  return requestOf({ call: 'restore', ...asking, deadlineMs: whole(deadlineMs), fence, entries })
}

/** The types of an entry allow what its schema has not: a field that is undefined. */
function requestOf(document: object): PluginRequest {
  return { v: DOCUMENT_VERSION, ...document } as PluginRequest
}

function whole(ms: number): number {
  return Math.max(0, Math.floor(ms))
}
