import { z } from 'zod'
import { formatDuration, parseDuration } from '../../config/duration.ts'
import { LIMITS } from './limits.ts'
import type { Effect } from './rule-set.ts'

/** A rule in its text form: of a document, or of a shipped rule with its parameters. */
export interface RuleText {
  readonly when: string
  readonly effect: Effect
  readonly since?: string
  readonly forMs?: number
}

export interface ShippedRule {
  readonly parameters: z.ZodType
  /** @param parameters those that the schema has checked */
  make(parameters: never): RuleText
}

export const DOES_NOT_COUNT = 'sluice.dev/does-not-count'

/** A duration with an own message. The second line of a message is its hint. */
export function durationField(longestMs: number) {
  return z.unknown().transform((value, context): number => {
    if (value === undefined) {
      context.addIssue({ code: 'custom', message: 'is missing\nwrite a duration, such as 5m' })
      return z.NEVER
    }
    const parsed = parseDuration(value)
    if (!parsed.ok) context.addIssue({ code: 'custom', message: `${parsed.reason}\n${parsed.hint}` })
    else if (parsed.ms === 0 || parsed.ms > longestMs)
      context.addIssue({
        code: 'custom',
        message: `${String(value)} is too ${parsed.ms === 0 ? 'short' : 'long'}\nbetween 1ms and ${formatDuration(longestMs)}`,
      })
    else return parsed.ms
    return z.NEVER
  })
}

const PERCENT = /^(\d{1,3})%$/

const floorField = z.unknown().transform((value, context): { count: number } | { percent: number } => {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return { count: value }
  const percent = typeof value === 'string' ? Number(PERCENT.exec(value)?.[1] ?? NaN) : NaN
  if (percent >= 1 && percent <= 100) return { percent }
  const message = value === undefined ? 'is missing' : `${JSON.stringify(value)?.slice(0, 60)} is no number of pods`
  context.addIssue({ code: 'custom', message: `${message}\nwrite a number of pods from 1, or a percentage such as "50%"` })
  return z.NEVER
})

const KEY = /^(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/

function define<T>(rule: { parameters: z.ZodType<T>; make: (parameters: T) => RuleText }): ShippedRule {
  return rule
}

export const SHIPPED_RULES: Readonly<Record<string, ShippedRule>> = {
  'upgrading-not-ready': define({
    parameters: z.strictObject({}),
    make: () => ({ when: 'upgrading(pod) && !newContainerReady(pod)', effect: 'notReady' }),
  }),
  'late-heartbeat': define({
    parameters: z.strictObject({ within: durationField(LIMITS.keepMs), floor: floorField }),
    make: ({ within, floor }) => {
      const few =
        'count' in floor
          ? `readyPodsOf(service) < ${floor.count}`
          : `readyPodsOf(service) * 100 < podsOf(service) * ${floor.percent}`
      return {
        when: `nodeSilent(pod) && exists(service) && ${few}`,
        effect: 'keepPrevious',
        since: 'condition(pod, "Ready").lastTransitionTime',
        forMs: within,
      }
    },
  }),
  'container-does-not-count': define({
    parameters: z.strictObject({
      annotation: z
        .string()
        .regex(KEY, 'is no name of an annotation\nwrite a name such as example.com/does-not-count')
        .default(DOES_NOT_COUNT),
    }),
    make: ({ annotation }) => {
      const key = JSON.stringify(annotation)
      return {
        when: [
          'exists(pod)',
          `${key} in pod.metadata.annotations`,
          '!endpoint.terminating',
          '!has(pod.metadata.deletionTimestamp)',
          'condition(pod, "ContainersReady").status == "False"',
          'condition(node, "Ready").status == "True"',
          `readyWithout(pod, pod.metadata.annotations[${key}].split(","))`,
        ].join(' && '),
        effect: 'ready',
      }
    },
  }),
}
