import { z } from 'zod'

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

/** A label selector as the query parameter `labelSelector` takes it. */
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
