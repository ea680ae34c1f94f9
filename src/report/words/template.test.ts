import { expect, test } from 'vitest'
import { differencesList } from './template.ts'

test.each([
  [
    { path: 'spec.template.spec.containers[app].env[FOO].value', before: 'a', after: 'b' },
    'spec.template.spec.containers[app].env[FOO].value: "a" → "b"',
  ],
  [{ path: 'env[BAR]', after: { name: 'BAR', value: 'x' } }, 'env[BAR]: (none) → {"name":"BAR","value":"x"}'],
  [{ path: 'labelSelector', before: {} }, 'labelSelector: {} → (none)'],
  [{ path: 'a', before: [], after: {} }, 'a: [] → {}'],
  [{ path: 'a', before: 'x'.repeat(100) }, `a: "${'x'.repeat(59)}… → (none)`],
])('a difference: %o', (difference, words) => {
  expect(differencesList([difference])).toBe(words)
})

test('the first five differences are shown, and the rest counted', () => {
  const many = Array.from({ length: 9 }, (_, index) => ({ path: `key${index}`, before: index }))
  expect(differencesList(many)).toMatch(/^(key\d: \d → \(none\); ){5}and 4 more$/)
})
