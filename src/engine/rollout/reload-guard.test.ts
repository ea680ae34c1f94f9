import { expect, test } from 'vitest'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import type { Journal, JournalTarget, TrafficReading } from '../../pods/glossary.ts'
import { createReloadGuard } from './reload-guard.ts'

/** `edge/a` is an instance of `edge`. */
const target = (where: string): JournalTarget => ({
  loadBalancer: where.split('/')[0]!,
  target: 'web-0',
  scope: where.split('/')[1] ?? 'web',
  prior: null,
  untouched: false,
})

/** A guard with one pod in each of these, exposed for the whole test. `readings` answers by load balancer. */
function guarded(loadBalancers: string[], readings: (loadBalancer: string) => Promise<TrafficReading['state']>) {
  const clock = createVirtualClock()
  const asked: string[] = []
  const pod = { reloads: [] as string[] }
  const record = { step: 'patched', targets: loadBalancers.map(target) } as unknown as Journal
  const guard = createReloadGuard({
    clock,
    traffic: {
      isVolatile: (targets) => targets.some(({ loadBalancer }) => loadBalancer !== 'lasting'),
      async inspect(_uid, targets) {
        const names = targets.map(({ loadBalancer, scope }) => (scope === 'web' ? loadBalancer : `${loadBalancer}/${scope}`))
        asked.push(...names)
        const [state] = await Promise.all(names.map(readings))
        return { state: state!, inFlight: 0, detail: { code: 'entries-read', entries: [] } }
      },
    },
    exposed: () => [
      { uid: 'uid-0', record, reloaded: async (targets) => void pod.reloads.push(...targets.map(({ scope }) => scope)) },
    ],
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
  expect(pod.reloads).toEqual([])
  await clock.advance(500)
  expect(pod.reloads).toEqual(['web'])
  guard.stop()
})

test('an instance that does not answer keeps nobody from seeing what another of the same load balancer has forgotten', async () => {
  const readings: TrafficReading['state'][] = ['out', 'in', 'out']
  const { guard, clock, pod } = guarded(['edge/down', 'edge/up'], (name) =>
    name === 'edge/down' ? never : Promise.resolve(readings.shift()!),
  )
  guard.watch()
  await clock.advance(1_200)
  expect(pod.reloads).toEqual(['up'])
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
  expect(pod.reloads).toEqual(['web'])
})
