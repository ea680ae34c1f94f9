import { isHeirIn } from '../../workloads/kinds/heirs.ts'
import { KINDS } from '../../workloads/kinds/index.ts'
import { upgradeOrder } from '../../workloads/kinds/upgrade-order.ts'
import { expect, test } from 'vitest'
import type { Reason } from '../../reasons/reason.ts'
import type { Observation, PodUpgradeInput } from '../../../machines/pod-upgrade/context.ts'
import { missingPorts } from '../../../machines/pod-upgrade/ports.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import type { RawPodOptions } from '../../pods/testing/raw-pod.ts'
import { testPod } from '../../pods/testing/raw-pod.ts'
import type { PodState, RunEventBody } from '../events.ts'
import { createRollout } from './rollout.ts'
import type { Traffic } from '../traffic/traffic.ts'

/* The time for which a restarted and ready pod is watched before it is put back, and before it counts as restarted. */

const OUT = { state: 'out', inFlight: 0, detail: { code: 'error', said: 'out' } } as const
const READY_FOR_MS = 2_000
const READY_DEADLINE_MS = 60_000
const STARTED = '2026-01-01T00:10:00Z'
const BEFORE = '2026-01-01T00:05:00Z'
const PROBE = { periodSeconds: 5, failureThreshold: 3 }

function podAt(containersReadySince: string, change: RawPodOptions = {}, version = 1) {
  const status = { id: 'c2', image: 'app:v2', imageId: 'sha256:v2', running: true, ready: true, startedAt: STARTED }
  return testPod({
    resourceVersion: String(version),
    ip: '10.0.0.1',
    generation: 2,
    observedGeneration: 2,
    containersReadySince,
    containers: [{ name: 'app', image: 'app:v2', readinessProbe: PROBE, status }],
    ...change,
  })
}

/** One pod that this owner patched and that has restarted. Its load balancer has it out, and forgets that every `reloadMs`. */
async function createBed(pod = podAt(BEFORE), reloadMs = Infinity) {
  const clock = createVirtualClock()
  const stored: Observation['stored'] = {
    kind: 'read',
    journal: {
      run: 'run-1',
      epoch: 1,
      attempt: 1,
      step: 'patched',
      generation: 2,
      baseline: [{ name: 'app', image: 'app:v1', containerId: 'c1', imageId: 'sha256:v1' }],
      targets: [{ loadBalancer: 'edge', target: 'web-0', scope: 'web', prior: 'ready', untouched: false }],
    },
  }
  const seen: Observation = { pod, stored }
  const states: PodState[] = []
  const details: (Reason | undefined)[] = []
  let drainedAt = clock.now()
  const input = (): PodUpgradeInput => ({
    ...seen,
    run: 'run-1',
    epoch: 1,
    wanted: [{ container: 'app', image: 'app:v2' }],
    rehearsed: true,
    address: '10.0.0.1',
    gone: false,
  })
  const rollout = createRollout({
    clock,
    settings: {
      maxUnavailable: { count: 1 },
      readyForMs: READY_FOR_MS,
      onFailure: 'hold',
      drainDeadlineMs: 60_000,
      onDrainDeadline: 'fail',
      restartDeadlineMs: 600_000,
      rollbackDeadlineMs: 600_000,
      readyDeadlineMs: READY_DEADLINE_MS,
      restoreDeadlineMs: 60_000,
    },
    window: 1,
    store: {
      all: () => [seen],
      get: () => seen,
      observe: () => seen,
      announce: () => seen,
      isHeard: () => true,
      isCurrent: () => true,
      isBroken: () => false,
      refresh: async () => {},
      stop: async () => {},
    },
    workloads: [],
    beside: {
      all: () => [],
      isCurrent: () => true,
      isBroken: () => false,
      announce: () => {},
      isHeard: () => true,
      refresh: async () => {},
    },
    refresh: async () => {},
    asking: { pod: async () => 'known', answered: () => {} },
    endpoints: { of: () => [], isCurrent: () => true, look: async () => {}, refresh: async () => {}, stop: async () => {} },
    traffic: {
      isVolatile: () => reloadMs < Infinity,
      inspect: async () => (clock.now() - drainedAt < reloadMs ? OUT : { ...OUT, state: 'in' }),
      hasOvertaken: () => false,
      lateMs: () => 0,
      settleMs: () => 0,
    } as unknown as Traffic,
    ports: {
      ...missingPorts,
      inspect: async () => OUT,
      async effect() {
        drainedAt = clock.now()
        return { kind: 'applied' }
      },
      store: () => new Promise(() => {}),
    },
    includes: () => true,
    inputFor: input,
    isHeir: isHeirIn(KINDS),
    byUpgradeOrder: upgradeOrder(KINDS),
    minReadyMs: () => 0,
    availability: { pendingOf: () => new Map() },
    expectsHeir: () => true,
    operatorOut: () => 'none',
    drainedFor: () => undefined,
    isUnserved: () => false,
    onRest() {},
    onStalled() {},
    tell(event: RunEventBody) {
      if (event.type !== 'podState') return
      states.push(event.to)
      details.push(event.waiting)
    },
  })
  rollout.start([])
  await clock.advance(1)
  return {
    clock,
    states,
    details,
    async observe(next: Observation['pod']) {
      seen.pod = next
      rollout.onPod(next.uid)
      await clock.advance(0)
    },
  }
}

test('probed since it was started: for readyFor', async () => {
  const { clock, states, details } = await createBed(podAt(STARTED))
  expect([states.at(-1), details.at(-1)]).toEqual(['warming', { code: 'ready-for' }])
  await clock.advance(READY_FOR_MS - 10)
  expect(states.at(-1)).toBe('warming')
  await clock.advance(20)
  expect(states.at(-1)).toBe('restoring')
})

test('Ready since before it was started, so that nothing has probed it: until its probe would have failed', async () => {
  const { clock, states, details } = await createBed()
  expect([states.at(-1), details.at(-1)]).toEqual(['warming', { code: 'unprobed' }])
  await clock.advance(15_990)
  expect(states.at(-1)).toBe('warming')
  await clock.advance(20)
  expect(states.at(-1)).toBe('restoring')
})

test('its probe fails and then succeeds: for readyFor from then on', async () => {
  const { clock, states, observe } = await createBed()
  await clock.advance(10_000)
  await observe(podAt('2026-01-01T00:10:10Z', { ready: false }, 2))
  await clock.advance(4_000)
  await observe(podAt('2026-01-01T00:10:14Z', {}, 3))
  await clock.advance(READY_FOR_MS - 10)
  expect(states.at(-1)).toBe('warming')
  await clock.advance(20)
  expect(states.at(-1)).toBe('restoring')
})

/** A new tag with the old digest, first seen now. Only time proves that the container was not started from the old spec. */
function quietPod(statusImage: string) {
  const status = { id: 'c2', image: statusImage, imageId: 'sha256:v1', running: true, ready: true, startedAt: STARTED }
  return podAt(STARTED, { containers: [{ name: 'app', image: 'app:v2', readinessProbe: PROBE, status }] })
}

test.each([
  ['the wanted image', 'app:v2', 35_000],
  ['another, as a runtime may for one digest, or a container of before the patch', 'app:v1', 90_000],
])('time alone proves the restart, and its status names %s', async (_what, statusImage, quietMs) => {
  const { clock, states } = await createBed(quietPod(statusImage))
  expect(states.at(-1)).toBe('restarting')
  await clock.advance(quietMs - 10)
  expect(states.at(-1)).toBe('restarting')
  await clock.advance(20)
  expect(states.at(-1)).toBe('warming')
})

test('it does not get ready, and its load balancer is reloaded again and again: the ready deadline goes on', async () => {
  const { clock, states } = await createBed(podAt(STARTED, { ready: false }), 25_000)
  await clock.advance(READY_DEADLINE_MS - 10)
  expect(states.filter((state) => state === 'warming').length).toBeGreaterThan(1)
  expect(states.at(-1)).toBe('warming')
  await clock.advance(20)
  expect(states.at(-1)).toBe('failed')
})
