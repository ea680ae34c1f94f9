import { z } from 'zod'
import type { ObserveOptions } from '../observe-options.ts'
import { callback, member } from './members.ts'
import { choiceFields } from './parse-choice.ts'
import { checkedConfig, cluster } from './sluice-options.ts'

const ms = z.int().min(1).optional()

export const observeOptions = z.strictObject({
  clusters: z.array(z.strictObject({ name: z.string().min(1), cluster })),
  config: checkedConfig.shape.config.optional(),
  namespace: choiceFields.namespace,
  allNamespaces: z.boolean().optional(),
  graceMs: ms,
  pollMs: ms,
  signal: member<AbortSignal>(
    (value) => value instanceof AbortSignal,
    'an AbortSignal',
    'give the signal of an AbortController: it ends the observation',
  ),
  onTold: member((value) => typeof value === 'function', 'a function', 'give a function that is told of changes and findings'),
  onStart: callback,
  onEvent: callback,
  summary: z
    .strictObject({
      everyMs: z.int().min(1),
      onSummary: member((value) => typeof value === 'function', 'a function', 'give a function that is told of the summary'),
    })
    .optional(),
  clock: z.unknown().optional(),
  random: z.unknown().optional(),
} satisfies Record<keyof ObserveOptions, z.ZodType>)
