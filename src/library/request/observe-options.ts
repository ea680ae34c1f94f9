import { z } from 'zod'
import type { ObserveOptions } from '../observe-options.ts'
import { callback, member } from './members.ts'
import { choiceFields } from './parse-choice.ts'
import { checkedConfig, cluster } from './sluice-options.ts'

const connecting = member(
  (value) => typeof value === 'function',
  'a function',
  'give a function that connects it, or the connected cluster',
)

const managerMetrics = z
  .strictObject({
    url: z.url({ protocol: /^https?$/ }),
    ca: z.string().min(1).optional(),
    isInsecure: z.boolean().optional(),
  })
  .optional()

const ms = z.int().min(1).optional()

export const observeOptions = z.strictObject({
  clusters: z.array(
    z.union([
      z.strictObject({ name: z.string().min(1), cluster, managerMetrics }),
      z.strictObject({ name: z.string().min(1), connect: connecting, managerMetrics }),
    ]),
  ),
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
  onLag: callback,
  onWrite: callback,
  onLease: callback,
  summary: z
    .strictObject({
      everyMs: z.int().min(1),
      onSummary: member((value) => typeof value === 'function', 'a function', 'give a function that is told of the summary'),
    })
    .optional(),
  clock: z.unknown().optional(),
  random: z.unknown().optional(),
} satisfies Record<keyof ObserveOptions, z.ZodType>)
