import { z } from 'zod'
import type { Advice } from '../reasons/advice.ts'
import type { Reason } from '../reasons/reason.ts'

/*
 * Reasons as records keep them. A record may be of another version of sluice: a code that this one does not know is kept as it is,
 * and shown with its fields.
 */

/** Of a text inside of a reason that a record keeps; the output of the run had all of it. */
const TEXT_LENGTH = 300

export const StoredReason: z.ZodType<Reason> = z.looseObject({ code: z.string() }) as unknown as z.ZodType<Reason>
export const StoredAdvice: z.ZodType<Advice> = z.looseObject({ code: z.string() }) as unknown as z.ZodType<Advice>

/** The same with its long texts cut. */
export function clipped<T>(value: T): T {
  if (typeof value === 'string') return clippedText(value) as T
  if (Array.isArray(value)) return value.map((one: unknown) => clipped(one)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, clipped(part)])) as T
}

function clippedText(words: string): string {
  return words.length > TEXT_LENGTH ? `${words.slice(0, TEXT_LENGTH - 1)}…` : words
}
