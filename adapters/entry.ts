/** An entry of a load balancer as an adapter reports it, and the checks of entries. */
import { z } from 'zod'
import type { Address, Json } from './contract.ts'

/** One server, member or upstream in its current state. */
export interface Entry extends Address {
  /**
   * The name of the entry within its scope, independent of its address. An entry without a name has its address as name, in the form of
   * `formatAddress`.
   */
  name: string
  /** The part of the load balancer that takes one call at a time. Default: the load balancer is one scope. */
  scope?: string
  /** `draining`: the state that `drain` sets. `out`: another state that an operator set; neither `drain` nor `restore` ends it. */
  state: 'in' | 'draining' | 'out'
  /**
   * The written state, if the load balancer has not loaded it yet and still works with another state. A drain or restore is complete only
   * when the load balancer has loaded it. Default: the state.
   */
  becomes?: Entry['state']
  /** False if the entry is in rotation but gets no requests, for example because its health checks fail. Default: true. */
  routable?: boolean
  /** The weight. An entry with weight 0 is out of rotation. */
  weight?: number
  /** The number of requests or connections in progress. Absent or null: the number is unknown. */
  inFlight?: number | null
  /** With `draining`: the load balancer waits for traffic in progress and has not ended its drain. Default: false. */
  emptying?: boolean
  /** The settings besides the state that `restore` puts back. Equal settings must give equal JSON. Default: the weight. */
  prior?: Json
  /** A text for the operator. */
  detail?: string
}

/** The key of an entry in `ChangeResults`. */
export function resultKey({ name, scope = '' }: Pick<Entry, 'name' | 'scope'>): string {
  return JSON.stringify([scope, name])
}

const LONGEST_NAME = 512
const LONGEST_TEXT = 2_000
/** The limit for one target, in bytes. A journal has 4 KB for all targets of a pod. */
const LARGEST_PRIOR_BYTES = 1_000

export const entryName = z
  .string()
  .min(1)
  .max(LONGEST_NAME)
  .regex(/^[^\p{C}]+$/u, 'has control characters')
export const entryText = z.string().max(LONGEST_TEXT)
export const entryState = z.enum(['in', 'draining', 'out'])
export const entryPrior = z
  .json()
  .refine(
    (value) => Buffer.byteLength(JSON.stringify(value)) <= LARGEST_PRIOR_BYTES,
    `is longer than ${LARGEST_PRIOR_BYTES} bytes`,
  )

export const entrySchema = z.strictObject({
  name: entryName.describe('Names the entry within its scope, whatever address it has.'),
  scope: entryName.optional().describe('The part of the load balancer that is written one call at a time. Default: all of it.'),
  address: z
    .string()
    .min(1)
    .max(LONGEST_NAME)
    .regex(/^[^\s\p{C}@[\]]+$/u, 'is no address: write an IP or a host name, without a port'),
  port: z.int().min(1).max(65_535),
  state: entryState.describe(
    'draining: what drain does. out: what an operator has done besides, and neither drain nor restore ends.',
  ),
  becomes: entryState
    .optional()
    .describe('What is written and not in effect yet: the drain or restore is sent again. Default: the state.'),
  routable: z.boolean().optional().describe('false: in rotation, and without requests, by its health checks for instance.'),
  weight: z.number().min(0).optional().describe('0 is out of rotation.'),
  inFlight: z.int().min(0).nullable().optional().describe('Requests or connections under way; null or absent: not known.'),
  emptying: z
    .boolean()
    .optional()
    .describe('true: of a drained entry, for which the load balancer waits until what is under way has ended.'),
  prior: entryPrior.optional().describe('What restore puts back besides the state. Default: the weight.'),
  detail: entryText.optional().describe('For a person.'),
})

/** The first problems of a list of entries, with field and value. Undefined if the list is valid. */
export function entriesProblem(entries: unknown): string | undefined {
  const checked = z.array(entrySchema).safeParse(entries)
  if (!checked.success) return issues(checked.error, entries)
  const seen = new Set<string>()
  for (const one of checked.data) {
    const key = resultKey(one as Pick<Entry, 'name' | 'scope'>)
    if (seen.has(key)) return `the entry ${one.name} is there twice${one.scope === undefined ? '' : ` in ${one.scope}`}`
    seen.add(key)
  }
  return undefined
}

const SHOWN_ISSUES = 3

/** Makes text of a value safe for a message. Its argument is only the beginning of a long text. */
export type Show = (text: string) => string

/** The first issues of a value, each with its field and the wrong value. */
export function issues(error: z.ZodError, raw: unknown, show: Show = (text) => text): string {
  const some = error.issues.slice(0, SHOWN_ISSUES).map(({ path, message }) => {
    const field = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('')
    const shownField = show(field.replace(/^\./, '').slice(0, LOOKED_AT))
    const value = valueAt(raw, path)
    if (value === undefined && shownField !== '') return `${shownField} is missing`
    return `${shownField || 'it'}: ${shown(value, show)}: ${show(message.slice(0, LOOKED_AT))}`
  })
  const { length } = error.issues
  return `${some.join('; ')}${length > SHOWN_ISSUES ? `; and ${length - SHOWN_ISSUES} more` : ''}`
}

function valueAt(raw: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, part) => (value as Record<PropertyKey, unknown> | null | undefined)?.[part], raw)
}

const SHOWN_CHARACTERS = 60
/** The maximum length, in characters, for the search for secrets. A search in megabytes of text takes seconds. */
const LOOKED_AT = 16_384

/** Hides secrets before it shortens the text, because a part of a secret cannot be recognized. */
function shown(value: unknown, show: Show): string {
  const text = show((JSON.stringify(value) ?? String(value)).slice(0, LOOKED_AT))
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text
}
