import { isHeirIn } from '../workloads/kinds/heirs.ts'
import { KINDS } from '../workloads/kinds/index.ts'
import { upgradeOrder } from '../workloads/kinds/upgrade-order.ts'
import { expect, test } from 'vitest'
import { missingPorts } from '../../machines/pod-upgrade/ports.ts'
import { createVirtualClock } from '../kube/testing/virtual-clock.ts'
import { testPod } from '../pods/testing/raw-pod.ts'
import { createRollout } from './rollout/rollout.ts'
import type { Traffic } from './traffic/traffic.ts'

/* The number of decisions of the rollout. A decision looks at every pod. */

const CHANGES = 40

/** Runs `count` waiting pods, of which one changes each millisecond. Returns the instants of the decisions. */
async function decisionsWith(count: number): Promise<{ startedAt: number; at: number[] }> {
  const clock = createVirtualClock()
  const stored = { kind: 'none' } as const
  const pods = Array.from({ length: count }, (_, place) => ({ pod: testPod({ name: `web-${place}`, uid: `u${place}` }), stored }))
  const at: number[] = []
  const all = (): typeof pods => {
    at.push(clock.now())
    return pods
  }
  const rollout = createRollout({
    clock,
    settings: {
      maxUnavailable: { count: 1 },
      readyForMs: 0,
      onFailure: 'hold',
      drainDeadlineMs: 60_000,
      onDrainDeadline: 'fail',
      restartDeadlineMs: 60_000,
      rollbackDeadlineMs: 60_000,
      readyDeadlineMs: 60_000,
      restoreDeadlineMs: 60_000,
    },
    window: 1,
    store: {
      all,
      get: (uid) => pods.find(({ pod }) => pod.uid === uid),
      observe: () => pods[0]!,
      announce: () => pods[0]!,
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
    traffic: { isVolatile: () => false, hasOvertaken: () => false, lateMs: () => 0, settleMs: () => 0 } as unknown as Traffic,
    ports: missingPorts,
    includes: () => true,
    inputFor: ({ uid }) => ({
      ...pods.find(({ pod }) => pod.uid === uid)!,
      run: 'run-1',
      epoch: 1,
      wanted: [{ container: 'app', image: 'app:v2' }],
      rehearsed: true,
      gone: false,
    }),
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
    tell() {},
  })
  rollout.start([])
  rollout.pause({ code: 'pause-ends-run', by: 'nobody' })
  await clock.advance(1_000)
  at.length = 0
  const startedAt = clock.now()
  for (let change = 0; change < CHANGES; change++) {
    rollout.onPod('u0')
    await clock.advance(1)
  }
  await clock.advance(1_000)
  return { startedAt, at }
}

test('of few pods, after every change', async () => {
  expect((await decisionsWith(10)).at).toHaveLength(CHANGES)
})

test('of many, at once and then after a while that grows with them, and never without the last change', async () => {
  const { startedAt, at } = await decisionsWith(200)
  expect(at.map((time) => Math.round(time - startedAt))).toEqual([0, 10, 20, 30, 40])
})
