import { expect, it } from 'vitest'
import { LabelSelector, labelSelectorQuery } from './label-selector.ts'

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
