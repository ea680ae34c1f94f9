import type { LabelSelector } from './objects.ts'

type Labels = Readonly<Record<string, string>>

/** As the API server reads it: an empty one, or none, selects all. One with an operator of a later version selects nothing. */
export function selects({ matchLabels = {}, matchExpressions = [] }: LabelSelector = {}, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([name, value]) => labels[name] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key]
      switch (operator) {
        case 'In':
          return value !== undefined && values.includes(value)
        case 'NotIn':
          return value === undefined || !values.includes(value)
        case 'Exists':
          return value !== undefined
        case 'DoesNotExist':
          return value === undefined
        default:
          return false
      }
    })
  )
}
