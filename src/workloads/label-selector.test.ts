import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { labelSelector } from '../../sim/api-server/selectors.ts'
import { LabelSelector, labelSelectorQuery, podSelectionIn, podSelectionOf } from './label-selector.ts'

it('writes labels and expressions as the API takes them', () => {
  const selector = LabelSelector.parse({
    matchLabels: { app: 'web', 'a.io/tier': 'front' },
    matchExpressions: [
      { key: 'zone', operator: 'In', values: ['a', 'b'] },
      { key: 'track', operator: 'NotIn', values: ['canary'] },
      { key: 'owner', operator: 'Exists' },
      { key: 'legacy', operator: 'DoesNotExist' },
    ],
  })
  expect(labelSelectorQuery(selector)).toBe('app=web,a.io/tier=front,zone in (a,b),track notin (canary),owner,!legacy')
})

const key = fc.constantFrom('app', 'tier', 'a.io/tier', 'track')
const value = fc.constantFrom('', 'web', 'db', 'web.1', 'A-b_c')
const values = fc.array(value, { minLength: 1, maxLength: 3 })
const selectors = fc.record({
  matchLabels: fc.dictionary(key, value, { maxKeys: 2 }),
  matchExpressions: fc.array(
    fc.oneof(
      fc.record({ key, operator: fc.constantFrom('In' as const, 'NotIn' as const), values }),
      fc.record({ key, operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const) }),
    ),
    { maxLength: 3 },
  ),
})

/** Matches as the API documents it for the selector of a workload. */
function selects({ matchLabels, matchExpressions }: LabelSelector, labels: Record<string, string>): boolean {
  return (
    Object.entries(matchLabels ?? {}).every(([name, wanted]) => labels[name] === wanted) &&
    (matchExpressions ?? []).every((expression) => {
      const has = Object.hasOwn(labels, expression.key)
      const isOne = has && (expression.values ?? []).includes(labels[expression.key]!)
      return { In: isOne, NotIn: !isOne, Exists: has, DoesNotExist: !has }[expression.operator]
    })
  )
}

/** Matches as the embedded API server does for a query. */
function selectsInQuery(query: string, labels: Record<string, string>): boolean {
  const metadata = { name: 'web-0', uid: 'u', resourceVersion: '1', creationTimestamp: '', labels }
  return labelSelector(query)?.({ apiVersion: 'v1', kind: 'Pod', metadata }) ?? true
}

it('selects in a query what it selects in the workload', () => {
  fc.assert(
    fc.property(selectors, fc.dictionary(key, value, { maxKeys: 4 }), (selector, labels) => {
      const isSelected = selectsInQuery(labelSelectorQuery(LabelSelector.parse(selector)), labels)
      expect(isSelected).toBe(selects(selector, labels))
    }),
    { numRuns: 1_000 },
  )
})

it('views select as the API server does', () => {
  fc.assert(
    fc.property(selectors, fc.dictionary(key, value, { maxKeys: 4 }), (raw, labels) => {
      const selector = LabelSelector.parse(raw)
      expect(podSelectionOf(selector).selects!({ name: 'web-0', labels })).toBe(selects(selector, labels))
    }),
  )
})

it('views select by the equalities that a user has written, as the API server does', () => {
  const separator = fc.constantFrom('=', '==', ' = ')
  const requirement = fc.tuple(key, separator, value).map(([one, is, other]) => `${one}${is}${other}`)
  fc.assert(
    fc.property(
      fc.array(requirement, { minLength: 1, maxLength: 3 }),
      fc.dictionary(key, value, { maxKeys: 4 }),
      (all, labels) => {
        const query = all.join(', ')
        const selected = podSelectionIn(query).selects!({ name: 'web-0', labels })
        expect(selected, query).toBe(selectsInQuery(query, labels))
      },
    ),
  )
})

it.each(['app', '!app', 'app!=web', 'app in (web)', 'app=web,tier notin (a, b)', 'app=web,', '', 'app=(web)'])(
  'leaves %j to the API server',
  (query) => {
    expect(podSelectionIn(query)).toEqual({ labelSelector: query })
  },
)
