import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSameJson } from './testing/json-patch.ts'
import { template } from './testing/manifests.ts'
import { describeDifferences, differences } from './template-difference.ts'

function said(before: unknown, after: unknown): string {
  return describeDifferences(differences(before, after, 'spec.template'))
}

describe('template difference', () => {
  it.each([
    ['nothing', template(), template(), ''],
    ['null and absent are the same', { metadata: { creationTimestamp: null } }, { metadata: {} }, ''],
    ['an empty object is not nothing', { labelSelector: {} }, {}, 'spec.template.labelSelector: {} → (none)'],
    [
      'a variable',
      template({ env: { FOO: 'a' } }),
      template({ env: { FOO: 'b' } }),
      'spec.template.spec.containers[app].env[FOO].value: "a" → "b"',
    ],
    [
      'an added variable, not everything after it',
      template({ env: { FOO: 'a' } }),
      template({ env: { BAR: 'x', FOO: 'a' } }),
      'spec.template.spec.containers[app].env[BAR]: (none) → {"name":"BAR","value":"x"}',
    ],
    [
      'the order of variables',
      template({ env: { BAR: 'x', FOO: 'a' } }),
      template({ env: { FOO: 'a', BAR: 'x' } }),
      'spec.template.spec.containers[app].env (order): "BAR, FOO" → "FOO, BAR"',
    ],
    [
      'a label whose key is no word',
      { metadata: { labels: { 'a.io/b': '1' } } },
      { metadata: { labels: { 'a.io/b': '2' } } },
      'spec.template.metadata.labels[a.io/b]: "1" → "2"',
    ],
    [
      'a label that every object inherits a field of',
      { metadata: { labels: { constructor: 'a' } } },
      { metadata: { labels: {} } },
      'spec.template.metadata.labels.constructor: "a" → (none)',
    ],
    ['lists without keys, by place', { args: ['a', 'b'] }, { args: ['a'] }, 'spec.template.args[1]: "b" → (none)'],
    [
      'mounts by path',
      {
        m: [
          { mountPath: '/a', name: 'x' },
          { mountPath: '/b', name: 'x' },
        ],
      },
      { m: [{ mountPath: '/b', name: 'x' }] },
      'spec.template.m[/a]: {"mountPath":"/a","name":"x"} → (none)',
    ],
    ['another type', { a: [] }, { a: {} }, 'spec.template.a: [] → {}'],
    ['a long value, cut', { a: 'x'.repeat(100) }, {}, `spec.template.a: "${'x'.repeat(59)}… → (none)`],
  ])('%s', (_name, before, after, expected) => {
    expect(said(before, after)).toBe(expected)
  })

  it('shows the first five and counts the rest', () => {
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`key${index}`, index]))
    expect(said(many, {})).toMatch(/^(spec\.template\.key\d: \d → \(none\); ){5}and 4 more$/)
  })

  it('finds a difference exactly where two documents differ', () => {
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom('a', 'b', 1, true),
        fc.array(tie('value'), { maxLength: 3 }),
        tie('object'),
      ),
      object: fc.dictionary(fc.constantFrom('name', 'x', 'y'), tie('value'), { maxKeys: 3, noNullPrototype: true }),
    })).value
    fc.assert(
      fc.property(json, json, (one, other) => {
        expect(differences(one, structuredClone(one), '')).toEqual([])
        expect(differences(one, other, '').length === 0).toBe(isSameJson(one, other))
      }),
    )
  })
})
