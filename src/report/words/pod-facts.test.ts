import { expect, test } from 'vitest'
import type { Reason, ReasonOf } from '../../reasons/reason.ts'
import { standing } from './pod-facts.ts'
import { reasonWords } from './words.ts'

const GATE = { type: 'lb.example/in', status: 'False', message: 'target is not healthy' }
const TERMINATING: ReasonOf<'terminating'> = {
  code: 'terminating',
  dueAt: '2026-01-01T00:01:00Z',
  finalizers: ['example.org/backup'],
}

test.each<[Reason, string]>([
  [
    { code: 'containers-not-ready', containers: [{ name: 'app', waiting: 'CrashLoopBackOff' }, { name: 'web' }] },
    'container app is not ready (CrashLoopBackOff), container web is not ready',
  ],
  [{ code: 'pod-not-ready' }, 'the pod is not Ready'],
  [{ code: 'node-silent', node: 'node-1' }, 'node node-1 does not report'],
  [
    { code: 'readiness-gates-closed', gates: [{ type: 'lb.example/in', status: 'missing' }] },
    'readiness gate lb.example/in is missing',
  ],
  [{ code: 'readiness-gates-closed', gates: [GATE] }, 'readiness gate lb.example/in is False: target is not healthy'],
  [
    { code: 'container-waiting', container: 'app', waiting: 'ErrImagePull', message: 'no such tag' },
    'container app ErrImagePull: no such tag',
  ],
  [{ code: 'container-waiting', container: 'app', waiting: 'InvalidImageName' }, 'container app InvalidImageName'],
  [
    { code: 'endpoints-not-back', slices: ['web-x7k2p'] },
    'its Service endpoint is not back yet: not ready in EndpointSlice web-x7k2p',
  ],
  [
    { code: 'kubelet-behind', generation: 2, observed: 1, node: 'n1', silentNode: 'n1' },
    'the kubelet of node n1 has not seen the patch (generation 2, it reports 1); node n1 does not report',
  ],
  [{ code: 'kubelet-behind', generation: 3, observed: 2 }, 'the kubelet has not seen the patch (generation 3, it reports 2)'],
])('%o', (reason, words) => {
  expect(reasonWords(reason)).toBe(words)
})

test('how a pod stands is told after its name', () => {
  expect(standing(TERMINATING)).toBe(
    'is Terminating, due to be gone at 2026-01-01T00:01:00Z, held by finalizers example.org/backup',
  )
  expect(standing({ ...TERMINATING, finalizers: [] })).toBe('is Terminating, due to be gone at 2026-01-01T00:01:00Z')
  expect(standing({ code: 'node-silent', node: 'n1' })).toBe('is not ready (node n1 does not report)')
  expect(standing(undefined)).toBe('is not ready')
})
