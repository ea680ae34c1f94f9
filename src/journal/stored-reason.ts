import { z } from 'zod'
import type { Advice } from '../reasons/advice.ts'
import type { Reason } from '../reasons/reason.ts'

/*
 * Reasons as records keep them, cut to the room of the record. The output of the run has them in full. A record may be of another
 * version of sluice: an unknown code is kept, and shown with its fields.
 */

export const StoredReason: z.ZodType<Reason> = z.looseObject({ code: z.string() }) as unknown as z.ZodType<Reason>
export const StoredAdvice: z.ZodType<Advice> = z.looseObject({ code: z.string() }) as unknown as z.ZodType<Advice>

interface Limits {
  /** The maximum number of entries of one list. */
  entries: number
  /** The maximum number of characters of one text. */
  text: number
  /** The maximum depth of nested reasons. */
  depth: number
}

/** The limits in the order in which they are tried. The first that fits counts. */
const LIMITS: readonly Limits[] = [
  { entries: 20, text: 300, depth: 6 },
  { entries: 8, text: 150, depth: 4 },
  { entries: 3, text: 60, depth: 2 },
]

const utf8 = new TextEncoder()

/** Cuts a reason to so many bytes. `more` counts the entries that are left out of its lists. */
export function storedReason(reason: Reason, mostBytes: number): Reason {
  for (const limits of LIMITS) {
    const kept = cut(reason, limits)
    if (utf8.encode(JSON.stringify(kept)).length <= mostBytes) return kept
  }
  return tooLong(reason)
}

export function storedText(text: string, { text: most }: Pick<Limits, 'text'> = LIMITS[0]!): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text
}

function cut(reason: Reason, limits: Limits, depth = 1): Reason {
  let more = typeof reason.more === 'number' ? reason.more : 0
  const part = (value: unknown): unknown => {
    if (typeof value === 'string') return storedText(value, limits)
    if (Array.isArray(value)) {
      more += Math.max(0, value.length - limits.entries)
      return value.slice(0, limits.entries).map(part)
    }
    if (typeof value !== 'object' || value === null || isWhole(value)) return value
    if (isReason(value)) return depth < limits.depth ? cut(value, limits, depth + 1) : tooLong(value)
    return parts(value)
  }
  const parts = (value: object): object =>
    Object.fromEntries(Object.entries(value).map(([key, field]) => [key, key === 'prior' ? field : part(field)]))
  const kept = parts(reason) as Reason
  return more > 0 ? { ...kept, more } : kept
}

/** A command is never cut, since a cut command is another command. */
function isWhole(value: object): boolean {
  return 'command' in value && typeof value.command === 'string'
}

function isReason(value: object): value is Reason {
  return 'code' in value && typeof value.code === 'string'
}

function tooLong({ code }: Reason): Reason {
  return { code: 'too-long-for-record', of: storedText(code) }
}
