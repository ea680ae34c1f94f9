import { z } from 'zod'
import type { AbortOptions, CallOptions, ExplainOptions, PlanOptions, RunOptions } from '../options.ts'
import { duration } from './duration.ts'
import { callback, signal } from './members.ts'

export const callOptions = z.strictObject({ signal } satisfies Record<keyof CallOptions, z.ZodType>)

export const planOptions = z.strictObject({ signal, onEvent: callback } satisfies Record<keyof PlanOptions, z.ZodType>)

export const explainOptions = z.strictObject({ signal, onWatching: callback } satisfies Record<keyof ExplainOptions, z.ZodType>)

export const abortOptions = z.strictObject({
  signal,
  wait: z.boolean().optional(),
  onOrdered: callback,
  onWaiting: callback,
} satisfies Record<keyof AbortOptions, z.ZodType>)

/** The time that patched pods get to return to rotation. 0 leaves them at once. */
export const grace = duration(0).optional()

export const runOptions = z.strictObject({ signal, graceMs: grace } satisfies Record<keyof RunOptions, z.ZodType>)
