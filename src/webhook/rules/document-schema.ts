import { z } from 'zod'
import { LIMITS } from './limits.ts'
import { durationField, SHIPPED_RULES } from './shipped.ts'

const NAME = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/
const nameField = z
  .string()
  .regex(NAME, 'is no name of a rule\nwrite at most 63 lower case letters, digits and -, such as drain-first')

/** `*.*` of the document; each rule has a schema of its own, so that its mistakes are those of its kind. */
export const documentSchema = z.strictObject({
  apiVersion: z.literal('sluice.dev/v1'),
  kind: z.literal('EndpointRules'),
  metadata: z
    .strictObject({
      name: z.string().min(1).max(253).optional(),
      version: z
        .string()
        .regex(/^[\w.:+@/-]{1,128}$/, 'is no version\nwrite at most 128 letters, digits and . : + @ / - _')
        .optional(),
    })
    .optional(),
  mode: z.enum(['enforce', 'audit']).default('enforce'),
  rules: z.array(z.unknown()).max(LIMITS.rules),
})

const EFFECTS = ['ready', 'notReady', 'serving', 'remove', 'keepPrevious'] as const

export const ownRuleSchema = z.strictObject({
  name: nameField,
  when: z.string(),
  effect: z.enum(EFFECTS),
  since: z.string().optional(),
  for: durationField(LIMITS.keepMs).optional(),
})

export const usedRuleSchema = z.strictObject({
  use: z.enum(Object.keys(SHIPPED_RULES)),
  name: nameField.optional(),
  with: z.unknown().optional(),
})
