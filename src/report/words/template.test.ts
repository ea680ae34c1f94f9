import { expect, test } from 'vitest'
import type { Reason } from '../../reasons/reason.ts'
import { differencesList } from './template.ts'
import { reasonWords } from './words.ts'

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

const NEWEST = { name: 'web-hash1', differences: [{ path: 'spec.template.image', before: 'app:v2', after: 'app:v1' }] }
const LATE = { code: 'template-not-in-time', workload: 'statefulset/web', deadlineMs: 60_000 } as const

test('what a template waits for, also at its deadline', () => {
  expect(reasonWords({ code: 'awaits-generation', kind: 'StatefulSet', generation: 2, observed: 1 })).toBe(
    'waits until the StatefulSet controller observes generation 2 (it is at 1)',
  )
  expect(reasonWords({ code: 'awaits-revision', newest: NEWEST })).toBe(
    'waits until the ControllerRevision of the template appears (the newest is web-hash1, which differs: spec.template.image: "app:v2" → "app:v1")',
  )
  expect(
    reasonWords({ ...LATE, waiting: { code: 'awaits-template-write' }, because: { code: 'error', said: 'the answer was lost' } }),
  ).toBe(
    'deadline template (60 s): statefulset/web: waited until the API server takes the template; the last error was: the answer was lost',
  )
  expect(reasonWords({ ...LATE, waiting: { code: 'awaits-generation', kind: 'StatefulSet', generation: 2, observed: 1 } })).toBe(
    'deadline template (60 s): statefulset/web: waited until the StatefulSet controller observes generation 2 (it is at 1)',
  )
})

const CHANGED: Reason = {
  code: 'template-changed',
  workload: 'statefulset/web',
  differences: [{ path: 'spec.template.image', before: 'app:v1', after: 'app:v3' }],
}

test.each<[Reason, string]>([
  [CHANGED, 'the template of statefulset/web was changed by somebody else: spec.template.image: "app:v1" → "app:v3"'],
  [
    { code: 'template-stored-otherwise', because: CHANGED },
    'the template was stored otherwise than asked: the template of statefulset/web was changed by somebody else: spec.template.image: "app:v1" → "app:v3"',
  ],
  [
    { code: 'strategy-changed', workload: 'statefulset/web', now: 'RollingUpdate', expected: 'OnDelete' },
    'the update strategy of statefulset/web is RollingUpdate now, no longer OnDelete',
  ],
  [
    { code: 'template-edited', workload: 'statefulset/web', container: 'app', image: 'app:v9' },
    'the template of statefulset/web was left as it is: container app has app:v9 there, which the run has not set',
  ],
  [
    { code: 'revision-is-another', workload: 'statefulset/web', revision: 'web-hash1', differences: NEWEST.differences },
    'the update revision of statefulset/web is not its template: web-hash1 differs: spec.template.image: "app:v2" → "app:v1"',
  ],
  [
    { code: 'template-refused', workload: 'statefulset/web', because: { code: 'error', said: 'no' } },
    'the API server refuses the template of statefulset/web: no',
  ],
  [
    { code: 'no-such-workload', workload: 'statefulset/wbe', namespace: 'shop' },
    'there is no statefulset/wbe in namespace shop; check the name, and the namespace (-n)',
  ],
  [
    { code: 'not-allowed', verbs: ['list', 'watch'], resource: 'statefulsets.apps', namespace: 'shop' },
    'not allowed to list and watch statefulsets.apps in namespace shop; `sluice rbac` prints a Role with the rights that a run needs',
  ],
])('$0.code', (reason, words) => {
  expect(reasonWords(reason)).toBe(words)
})
