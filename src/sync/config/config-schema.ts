import { z } from 'zod'
import { parseDuration } from '../../config/duration.ts'

const LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/
const sourceName = z
  .string()
  .regex(
    LABEL,
    'is no name of a source\nwrite at most 63 lower case letters, digits and -, such as east: it becomes the value of a label',
  )
const objectName = z
  .string()
  .regex(LABEL, 'is no name of Kubernetes\nwrite at most 63 lower case letters, digits and -, which do not begin or end with -')

/** A duration in text, such as 5m; in milliseconds in the result. */
const duration = z.unknown().transform((value, context): number => {
  if (value === undefined) {
    context.addIssue({ code: 'custom', message: 'is missing\nwrite a duration, such as 5m' })
    return z.NEVER
  }
  const parsed = parseDuration(value)
  if (parsed.ok && parsed.ms > 0) return parsed.ms
  const message = parsed.ok
    ? `${String(value)} is too short\nwrite a duration above 0, such as 5m`
    : `${parsed.reason}\n${parsed.hint}`
  context.addIssue({ code: 'custom', message })
  return z.NEVER
})

const IN_CLUSTER = 'in-cluster'
const wayFields = { kubeconfig: z.string().min(1).optional(), context: z.string().min(1).optional() }
const accessWay = z.union([z.literal(IN_CLUSTER), z.strictObject(wayFields)])

/** The mapping is the first branch: where both have a mistake, those in a mapping tell more. */
const whenAway = z.union([
  z.strictObject({ expireAfter: duration, floor: z.int().min(0).max(100_000).default(1) }),
  z.literal('keep'),
])

const serviceFields = {
  create: z.boolean().optional(),
  whenAway: whenAway.optional(),
  replacedAfter: duration.optional(),
}

/** The document of `sluice sync`. A setting of a Service comes before that of `defaults`. */
export const syncConfigSchema = z.strictObject({
  apiVersion: z.literal('sluice.dev/v1'),
  kind: z.literal('SyncConfig'),
  access: accessWay,
  sources: z
    .array(z.strictObject({ name: sourceName, ...wayFields }))
    .min(1, 'is empty\nname at least one source')
    .max(100),
  defaults: z.strictObject(serviceFields).optional(),
  services: z
    .array(
      z.strictObject({
        namespace: objectName,
        name: objectName,
        sources: z.array(z.string()).min(1, 'is empty\nname at least one source, or remove it for all of them').optional(),
        ...serviceFields,
      }),
    )
    .min(1, 'is empty\nname at least one Service'),
})

export type SyncDocument = z.output<typeof syncConfigSchema>
