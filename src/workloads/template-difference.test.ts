import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSameJson } from './testing/json-patch.ts'
import { template } from './testing/manifests.ts'
import type { Difference } from './template-difference.ts'
import { differences } from './template-difference.ts'

describe('template difference', () => {
  it.each<[string, unknown, unknown, Difference[]]>([
    ['nothing', template(), template(), []],
    ['null and absent are the same', { metadata: { creationTimestamp: null } }, { metadata: {} }, []],
    ['an empty object is not nothing', { labelSelector: {} }, {}, [{ path: 'labelSelector', before: {} }]],
    [
      'a variable',
      template({ env: { FOO: 'a' } }),
      template({ env: { FOO: 'b' } }),
      [{ path: 'spec.containers[app].env[FOO].value', before: 'a', after: 'b' }],
    ],
    [
      'an added variable, not everything after it',
      template({ env: { FOO: 'a' } }),
      template({ env: { BAR: 'x', FOO: 'a' } }),
      [{ path: 'spec.containers[app].env[BAR]', after: { name: 'BAR', value: 'x' } }],
    ],
    [
      'the order of variables',
      template({ env: { BAR: 'x', FOO: 'a' } }),
      template({ env: { FOO: 'a', BAR: 'x' } }),
      [{ path: 'spec.containers[app].env (order)', before: 'BAR, FOO', after: 'FOO, BAR' }],
    ],
    [
      'a label whose key is no word',
      { metadata: { labels: { 'a.io/b': '1' } } },
      { metadata: { labels: { 'a.io/b': '2' } } },
      [{ path: 'metadata.labels[a.io/b]', before: '1', after: '2' }],
    ],
    [
      'a label that every object inherits a field of',
      { metadata: { labels: { constructor: 'a' } } },
      { metadata: { labels: {} } },
      [{ path: 'metadata.labels.constructor', before: 'a' }],
    ],
    ['lists without keys, by place', { args: ['a', 'b'] }, { args: ['a'] }, [{ path: 'args[1]', before: 'b' }]],
    [
      'mounts by path',
      {
        m: [
          { mountPath: '/a', name: 'x' },
          { mountPath: '/b', name: 'x' },
        ],
      },
      { m: [{ mountPath: '/b', name: 'x' }] },
      [{ path: 'm[/a]', before: { mountPath: '/a', name: 'x' } }],
    ],
    ['another type', { a: [] }, { a: {} }, [{ path: 'a', before: [], after: {} }]],
  ])('%s', (_name, before, after, expected) => {
    const found = expected.map((one) => ({ ...one, path: `spec.template.${one.path}` }))
    expect(differences(before, after, 'spec.template')).toEqual(found)
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
