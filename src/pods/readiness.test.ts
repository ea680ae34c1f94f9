import { expect, test } from 'vitest'
import { unready } from './readiness.ts'
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
  {
    pod: testPod({ ready: false, containersReady: true }),
    reason: 'Ready is False though all containers are: a late node heartbeat or a readiness gate',
  },
])('$reason', ({ pod, reason }) => {
  expect(unready(pod, ['app'])).toBe(reason)
})
