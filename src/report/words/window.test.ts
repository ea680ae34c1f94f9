import { expect, test } from 'vitest'
import type { ReasonOf } from '../../reasons/reason.ts'
import { reasonWords } from './words.ts'

const TERMINATING: ReasonOf<'terminating'> = { code: 'terminating', dueAt: '2026-01-01T00:01:00Z', finalizers: [] }

test.each<[Partial<ReasonOf<'window-taken'>>, string]>([
  [{ size: 1, pods: [{ pod: 'web-0', standing: 'starts' }] }, 'the window of 1 is full: web-0 starts'],
  [
    {
      size: 2,
      pods: [
        { pod: 'web-0', standing: 'not-ready', because: { code: 'node-silent', node: 'n1' } },
        { pod: 'web-1', standing: 'starts' },
      ],
    },
    'the window of 2 is full: web-0 is not ready (node n1 does not report), web-1 starts',
  ],
  [
    {
      size: 3,
      pods: [
        { pod: 'web-0', standing: 'upgrading' },
        { pod: 'web-2', standing: 'not-ready' },
        { pod: 'web-3', standing: 'operator' },
      ],
    },
    'the window of 3 is full: web-0 is being upgraded, web-2 is not ready, web-3 is out by an operator',
  ],
  [
    {
      size: 9,
      counts: [
        { standing: 'upgrading', pods: 5 },
        { standing: 'missing', pods: 6 },
        { standing: 'not-ready', pods: 1 },
        { standing: 'operator', pods: 2 },
        { standing: 'unserved', pods: 2 },
      ],
    },
    'the window of 9 is full: 5 being upgraded, 6 missing, 1 not ready, 2 out by an operator, 2 not known to be in every load balancer',
  ],
  [{ pods: [{ pod: 'web-0', standing: 'unserved' }] }, 'web-0 is not known to be in every load balancer'],
  [
    {
      size: 2,
      pods: [{ pod: 'web-0', standing: 'not-ready' }],
      lacking: [{ workload: 'statefulset/web', pods: 1, leaving: [] }],
    },
    'the window of 2 is full: web-0 is not ready, statefulset/web lacks a pod',
  ],
  [
    { size: 2, lacking: [{ workload: 'statefulset/web', pods: 2, leaving: [] }] },
    'the window of 2 is full: statefulset/web lacks 2 pods',
  ],
  [
    {
      size: 1,
      lacking: [{ workload: 'statefulset/web', pods: 1, leaving: [{ pod: 'web-9', because: TERMINATING }] }],
    },
    'the window of 1 is full: statefulset/web lacks a pod (web-9 is Terminating, due to be gone at 2026-01-01T00:01:00Z)',
  ],
])('%o', (facts, words) => {
  expect(reasonWords({ code: 'window-taken', pods: [], lacking: [], counts: [], ...facts })).toBe(words)
})

test('a workload that lacks pods, and how a plan counts those', () => {
  const leaving = [{ pod: 'web-1', because: { ...TERMINATING, finalizers: ['example.org/backup'] } }]
  const lacks: ReasonOf<'lacks-pods'> = { code: 'lacks-pods', workload: 'statefulset/web', present: 1, desired: 2, leaving: [] }
  expect(reasonWords({ ...lacks, leaving })).toBe(
    'statefulset/web has 1 of its 2 pods (web-1 is Terminating, due to be gone at 2026-01-01T00:01:00Z, held by finalizers example.org/backup)',
  )
  expect(reasonWords({ ...lacks, countAsOut: true })).toBe(
    'statefulset/web has 1 of its 2 pods: those that are still to be made count as out of rotation',
  )
})
