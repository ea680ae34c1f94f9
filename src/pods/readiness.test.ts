import { expect, test } from 'vitest'
import type { Reason } from '../reasons/reason.ts'
import type { PodView } from './glossary.ts'
import { standing, unready } from './readiness.ts'
import { runningA, testPod } from './testing/raw-pod.ts'

const app = (status: object) => ({ name: 'app', image: 'app:v1', status: { ...runningA, ...status } })
const proxy = { name: 'proxy', image: 'proxy:v1', status: { ...runningA, ready: false } }

test.each<{ pod: PodView; reason: Reason | undefined }>([
  { pod: testPod(), reason: undefined },
  {
    pod: testPod({ ready: false, containers: [app({ ready: false })] }),
    reason: { code: 'containers-not-ready', containers: [{ name: 'app' }] },
  },
  {
    pod: testPod({ containers: [app({ running: false, waiting: { reason: 'CrashLoopBackOff' } })] }),
    reason: { code: 'containers-not-ready', containers: [{ name: 'app', waiting: 'CrashLoopBackOff' }] },
  },
  { pod: testPod({ ready: false, containersReady: false, containers: [app({}), proxy] }), reason: { code: 'pod-not-ready' } },
  { pod: testPod({ ready: false, containersReady: true, node: 'node-1' }), reason: { code: 'node-silent', node: 'node-1' } },
  {
    pod: testPod({ ready: false, containersReady: true, node: 'node-1', gates: [{ type: 'lb.example/in' }] }),
    reason: { code: 'readiness-gates-closed', gates: [{ type: 'lb.example/in', status: 'missing' }] },
  },
  {
    pod: testPod({
      ready: false,
      containersReady: true,
      node: 'node-1',
      gates: [
        { type: 'lb.example/in', status: 'False', message: 'target is not healthy' },
        { type: 'other.example/in', status: 'True' },
      ],
    }),
    reason: {
      code: 'readiness-gates-closed',
      gates: [{ type: 'lb.example/in', status: 'False', message: 'target is not healthy' }],
    },
  },
])('$reason.code', ({ pod, reason }) => {
  expect(unready(pod, ['app'])).toEqual(reason)
})

test('a pod that is Terminating is told with when it was to be gone, and with what holds it', () => {
  const terminating = { code: 'terminating', dueAt: '2026-01-01T00:01:00Z' }
  expect(standing(testPod({ deleting: true, finalizers: ['example.org/backup'] }))).toEqual({
    ...terminating,
    finalizers: ['example.org/backup'],
  })
  expect(standing(testPod({ deleting: true }))).toEqual({ ...terminating, finalizers: [] })
})

test('a pod stands before a closed readiness gate', () => {
  expect(standing(testPod({ ready: false, containersReady: true, gates: [{ type: 'lb.example/in' }] }))).toEqual({
    code: 'readiness-gates-closed',
    gates: [{ type: 'lb.example/in', status: 'missing' }],
  })
})

test('a node that does not report is told from a closed readiness gate, and from containers that are not ready', () => {
  const silent = (options: object) => testPod({ ready: false, node: 'node-1', ...options }).nodeIsSilent
  expect(silent({ containersReady: true })).toBe(true)
  expect(silent({ containersReady: true, gates: [{ type: 'lb.example/in' }] })).toBeUndefined()
  expect(silent({ containersReady: false })).toBeUndefined()
  expect(silent({ ready: true })).toBeUndefined()
})
