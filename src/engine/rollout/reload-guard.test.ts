import { expect, test } from 'vitest'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import type { Journal, JournalTarget, TrafficReading } from '../../pods/glossary.ts'
import { createReloadGuard } from './reload-guard.ts'

const target = (loadBalancer: string): JournalTarget => ({
  loadBalancer,
  target: 'web-0',
  scope: 'web',
  prior: null,
  untouched: false,
})

/** One pod in each of these, which is exposed as long as the test runs; `readings` are asked of by load balancer. */
function guarded(loadBalancers: string[], readings: (loadBalancer: string) => Promise<TrafficReading['state']>) {
  const clock = createVirtualClock()
  const asked: string[] = []
  const pod = { reloads: 0 }
  const record = { step: 'patched', targets: loadBalancers.map(target) } as unknown as Journal
  const guard = createReloadGuard({
    clock,
    traffic: {
      isVolatile: (targets) => targets.some(({ loadBalancer }) => loadBalancer !== 'lasting'),
      async inspect(_uid, targets) {
        const names = targets.map(({ loadBalancer }) => loadBalancer)
        asked.push(...names)
        return { state: await readings(names[0]!), inFlight: 0, detail: '' }
      },
    },
    exposed: () => [{ uid: 'uid-0', record, reloaded: async () => void (pod.reloads += 1) }],
    onLooked: () => guard.watch(),
  })
  return { guard, clock, asked, pod }
}

const never = new Promise<never>(() => {})

test('a load balancer that does not answer keeps nobody from seeing what another has forgotten', async () => {
  const readings: TrafficReading['state'][] = ['out', 'in', 'out']
  const { guard, clock, pod } = guarded(['slow', 'quick'], (name) =>
    name === 'slow' ? never : Promise.resolve(readings.shift()!),
  )
  guard.watch()
  await clock.advance(700)
  expect(pod.reloads).toBe(0)
  await clock.advance(500)
  expect(pod.reloads).toBe(1)
  guard.stop()
})

test('one look at a time, and only where something can be forgotten', async () => {
  const { guard, clock, asked } = guarded(['lasting', 'slow'], () => never)
  guard.watch()
  await clock.advance(5_000)
  guard.watch()
  await clock.advance(5_000)
  expect(asked).toEqual(['slow'])
  guard.stop()
  expect(clock.pending()).toBe(0)
})

test('in the end, at once', async () => {
  const { guard, pod } = guarded(['quick', 'other'], async (name) => (name === 'other' ? 'in' : 'out'))
  await guard.look()
  expect(pod.reloads).toBe(1)
})
