export type Labels = Readonly<Record<string, string>>

/** Of an object of the API; what is absent there may be null. */
export interface LabelSelector {
  readonly matchLabels?: Labels | null | undefined
  readonly matchExpressions?:
    | readonly {
        readonly key: string
        readonly operator: string
        readonly values?: readonly string[] | null | undefined
      }[]
    | null
    | undefined
}

export function hasLabels(labels: Labels, wanted: Labels): boolean {
  return Object.entries(wanted).every(([name, value]) => valueOf(labels, name) === value)
}

/**
 * As the API server decides it: an empty selector selects all, and a missing label is in no list of values, and so not in any. An operator
 * of a later version selects nothing.
 */
export function matchesSelector({ matchLabels, matchExpressions }: LabelSelector, labels: Labels): boolean {
  return (
    hasLabels(labels, matchLabels ?? {}) &&
    (matchExpressions ?? []).every(({ key, operator, values }) => {
      const value = valueOf(labels, key)
      switch (operator) {
        case 'In':
          return value !== undefined && (values ?? []).includes(value)
        case 'NotIn':
          return value === undefined || !(values ?? []).includes(value)
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

/** The name of a label may be one that each object has, such as `constructor`. */
function valueOf(labels: Labels, name: string): string | undefined {
  return Object.hasOwn(labels, name) ? labels[name] : undefined
}
