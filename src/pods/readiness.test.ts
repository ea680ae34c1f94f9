import { expect, test } from 'vitest'
import { standingWords, unready } from './readiness.ts'
import { runningA, testPod } from './testing/raw-pod.ts'

const app = (status: object) => ({ name: 'app', image: 'app:v1', status: { ...runningA, ...status } })
const proxy = { name: 'proxy', image: 'proxy:v1', status: { ...runningA, ready: false } }

test.each([
  { pod: testPod(), reason: undefined },
  { pod: testPod({ ready: false, containers: [app({ ready: false })] }), reason: 'container app is not ready' },
  {
    pod: testPod({ containers: [app({ running: false, waiting: { reason: 'CrashLoopBackOff' } })] }),
    reason: 'container app is not ready (CrashLoopBackOff)',
  },
  { pod: testPod({ ready: false, containersReady: false, containers: [app({}), proxy] }), reason: 'the pod is not Ready' },
  { pod: testPod({ ready: false, containersReady: true, node: 'node-1' }), reason: 'node node-1 does not report' },
  {
    pod: testPod({ ready: false, containersReady: true, node: 'node-1', gates: [{ type: 'lb.example/in' }] }),
    reason: 'readiness gate lb.example/in is missing',
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
    reason: 'readiness gate lb.example/in is False: target is not healthy',
  },
])('$reason', ({ pod, reason }) => {
  expect(unready(pod, ['app'])).toBe(reason)
})

test('a pod that is Terminating is told with when it was to be gone, and with what holds it', () => {
  expect(standingWords(testPod({ deleting: true, finalizers: ['example.org/backup'] }))).toBe(
    'is Terminating, due to be gone at 2026-01-01T00:01:00Z, held by finalizers example.org/backup',
  )
  expect(standingWords(testPod({ deleting: true }))).toBe('is Terminating, due to be gone at 2026-01-01T00:01:00Z')
})

test('a node that does not report is told from a closed readiness gate, and from containers that are not ready', () => {
  const silent = (options: object) => testPod({ ready: false, node: 'node-1', ...options }).nodeIsSilent
  expect(silent({ containersReady: true })).toBe(true)
  expect(silent({ containersReady: true, gates: [{ type: 'lb.example/in' }] })).toBeUndefined()
  expect(silent({ containersReady: false })).toBeUndefined()
  expect(silent({ ready: true })).toBeUndefined()
})
