/**
 * The documents of a plugin that is a program or a server: one JSON document for the request and one for the answer. sluice checks the
 * complete answer before it uses any part of it.
 */
import { z } from 'zod'
import { AdapterError, type AdapterErrorKind, type EffectResult, type Json } from '../contract.ts'
import type { ChangeResults, Former } from '../define-adapter.ts'
import {
  entriesProblem,
  type Entry,
  entryName,
  entryPrior,
  entrySchema,
  entryState,
  entryText,
  issues,
  resultKey,
  type Show,
} from '../entry.ts'

/** The version of the documents. A plugin must refuse an unknown version. */
export const DOCUMENT_VERSION = 1

const MOST_ENTRIES = 100_000

const KINDS = ['retryable', 'throttled', 'not-found', 'conflict', 'fatal', 'ambiguous'] as const satisfies AdapterErrorKind[]

const failure = z.strictObject({
  kind: z
    .enum(KINDS)
    .describe(
      'retryable: not sent or not done. throttled: refused for now. not-found: there is no such entry. conflict: somebody else has changed ' +
        'it meanwhile. fatal: trying again cannot help. ambiguous: it may have been done.',
    ),
  message: entryText.min(1),
  retryAfterMs: z.int().min(0).optional(),
})

const v = z.literal(DOCUMENT_VERSION)
const failed = z.strictObject({ v, error: failure })
const listed = z.strictObject({ v, entries: z.array(entrySchema).max(MOST_ENTRIES) })
const named = { name: entryName, scope: entryName.optional() }
const result = z.union([
  z.strictObject({ ...named, outcome: z.literal('applied'), detail: entryText.optional() }),
  z.strictObject({ ...named, outcome: z.literal('failed'), error: failure }),
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
const changing = entrySchema.extend({ operation })
const request = z.discriminatedUnion('call', [
  z.strictObject({ ...common, call: z.literal('list') }),
  z.strictObject({ ...common, call: z.literal('drain'), fence: epoch, entries: z.array(changing).min(1) }),
  z.strictObject({
    ...common,
    call: z.literal('restore'),
    fence: epoch,
    entries: z
      .array(
        changing.extend({
          former: z.strictObject({ state: entryState, prior: entryPrior }).describe('What it was before it was drained.'),
        }),
      )
      .min(1),
  }),
])

export type PluginRequest = z.output<typeof request>

/** The schemas of the documents, from which the JSON Schema is made. */
export const documentSchemas = { request, list: z.union([listed, failed]), change: z.union([changed, failed]) }

/** The problem of an answer. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError'
}

/**
 * The context of one answer: the component that starts each error message, and a function that prepares text of the plugin for messages.
 */
export interface Reading {
  component: string
  show: Show
}

function read<Value>(schema: z.ZodType<Value>, answer: string, reading: Reading): Value {
  let raw: unknown
  try {
    raw = JSON.parse(answer)
  } catch {
    throw new AnswerError(answer.trim() === '' ? 'it has answered nothing' : 'its answer is no JSON document')
  }
  const said = failed.safeParse(raw)
  if (said.success) throw errorOf(reading, said.data.error)
  const parsed = schema.safeParse(raw)
  if (!parsed.success) throw new AnswerError(`its answer is not right: ${issues(parsed.error, raw, reading.show)}`)
  return parsed.data
}

function errorOf({ component, show }: Reading, { kind, message, retryAfterMs }: z.output<typeof failure>): AdapterError {
  return new AdapterError(component, kind, show(message), retryAfterMs === undefined ? {} : { retryAfterMs })
}

/**
 * @throws AdapterError that the plugin reports
 * @throws AnswerError if the answer is invalid
 */
export function readEntries(answer: string, reading: Reading): Entry[] {
  const { entries } = read(listed, answer, reading)
  const problem = entriesProblem(entries)
  if (problem !== undefined) throw new AnswerError(`its answer is not right: ${reading.show(problem)}`)
  return entries.map((one) => ({ ...one, ...(one.detail === undefined ? {} : { detail: reading.show(one.detail) }) })) as Entry[]
}

/** Throws the errors of `readEntries`. */
export function readResults(answer: string, reading: Reading, asked: readonly Entry[]): ChangeResults | undefined {
  const { results } = read(changed, answer, reading)
  if (results === undefined) return undefined
  const keys = new Set(asked.map(resultKey))
  const found = new Map<string, EffectResult>()
  for (const one of results) {
    const key = resultKey(one as Pick<Entry, 'name' | 'scope'>)
    if (!keys.has(key)) throw new AnswerError(`its answer is about ${reading.show(one.name)}, which it was not asked for`)
    if (found.has(key)) throw new AnswerError(`its answer has two results for ${reading.show(one.name)}`)
    found.set(key, resultOf(one, reading))
  }
  const missing = asked.find((one) => !found.has(resultKey(one)))
  if (missing !== undefined) throw new AnswerError(`its answer has no result for ${missing.name}`)
  return found
}

function resultOf(one: z.output<typeof result>, reading: Reading): EffectResult {
  if (one.outcome === 'failed') return { outcome: 'failed', error: errorOf(reading, one.error) }
  return one.detail === undefined ? { outcome: 'applied' } : { outcome: 'applied', detail: reading.show(one.detail) }
}

/** The common fields of a request. */
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
  const withIds = entries.map((one) => ({ ...one, operation: operationOf(one) }))
  return requestOf({ call: 'drain', ...asking, deadlineMs: whole(deadlineMs), fence, entries: withIds })
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

/** Makes a request. The cast is necessary because the type of an entry allows undefined fields, and the schema does not. */
function requestOf(document: object): PluginRequest {
  return { v: DOCUMENT_VERSION, ...document } as PluginRequest
}

function whole(ms: number): number {
  return Math.max(0, Math.floor(ms))
}
