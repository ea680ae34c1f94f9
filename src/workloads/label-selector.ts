import { z } from 'zod'
import type { PodSelection } from '../observation/pod-record.ts'
import { matchesSelector } from '../pods/label-selector.ts'

export const LabelSelector = z.object({
  matchLabels: z.record(z.string(), z.string()).nullish(),
  matchExpressions: z
    .array(
      z.object({
        key: z.string(),
        operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
        values: z.array(z.string()).nullish(),
      }),
    )
    .nullish(),
})
export type LabelSelector = z.infer<typeof LabelSelector>

/** A label selector as the value of the query parameter `labelSelector`. */
export function labelSelectorQuery(selector: LabelSelector): string {
  const labels = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`)
  const expressions = (selector.matchExpressions ?? []).map(({ key, operator, values }) => {
    const list = `(${(values ?? []).join(',')})`
    switch (operator) {
      case 'In':
        return `${key} in ${list}`
      case 'NotIn':
        return `${key} notin ${list}`
      case 'Exists':
        return key
      case 'DoesNotExist':
        return `!${key}`
    }
  })
  return [...labels, ...expressions].join(',')
}

/** One requirement of a selector in the usual form, `KEY=VALUE`. */
const EQUALITY = /^\s*([\w./-]+)\s*==?\s*([\w.-]*)\s*$/

/** The selection of pods by a user's label selector. Views evaluate `KEY=VALUE` only, and leave other forms to the API server. */
export function podSelectionIn(labelSelector: string): PodSelection {
  const parts = labelSelector.split(',').map((part) => EQUALITY.exec(part))
  if (!parts.every((part) => part !== null)) return { labelSelector }
  const wanted = parts.map((part) => [part[1]!, part[2]!] as const)
  return {
    labelSelector,
    selects: ({ labels }) => wanted.every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value),
  }
}

export function podSelectionOf(selector: LabelSelector): PodSelection {
  return { labelSelector: labelSelectorQuery(selector), selects: ({ labels }) => matchesSelector(selector, labels) }
}
