export type Labels = Readonly<Record<string, string>>

/** The label selector of an API object. An absent field may also be null. */
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
 * Matches as the API server does: an empty selector matches everything, and a missing label is in no list of values (`In` fails, `NotIn`
 * matches). An operator of a later version matches nothing.
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

/** The own property only: the name of a label may be that of an inherited property, such as `constructor`. */
function valueOf(labels: Labels, name: string): string | undefined {
  return Object.hasOwn(labels, name) ? labels[name] : undefined
}
