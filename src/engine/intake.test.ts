import { expect, test } from 'vitest'
import type { Observation, PodUpgradeInput } from '../../machines/pod-upgrade/context.ts'
import type { PodPorts } from '../../machines/pod-upgrade/ports.ts'
import { missingPorts } from '../../machines/pod-upgrade/ports.ts'
import { createVirtualClock } from '../kube/testing/virtual-clock.ts'
import type { Journal, PodView } from '../pods/glossary.ts'
import type { RawPodOptions } from '../pods/testing/raw-pod.ts'
import { testPod } from '../pods/testing/raw-pod.ts'
import { createRollout } from './rollout.ts'
import type { Traffic } from './traffic.ts'

/* Which pods of a run leave, and when: what others of them are doing decides. */

const OWNER = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-1', uid: 'rs-1', controller: true }

function podAt(name: string, change: RawPodOptions = {}): PodView {
  return testPod({
    name,
    uid: name,
    owner: OWNER,
    ip: `10.0.0.${name.at(-1)}`,
    containers: [
      {
        name: 'app',
        image: 'app:v1',
        status: { id: `c-${name}`, image: 'app:v1', imageId: 'sha256:v1', running: true, ready: true },
      },
    ],
    ...change,
  })
}

function journalOf(target: string, step: Journal['step'] = 'drain'): Observation['stored'] {
  return {
    kind: 'read',
    journal: {
      run: 'run-1',
      epoch: 1,
      attempt: 1,
      step,
      ...(step === 'drain' ? {} : { generation: 2 }),
      baseline: [{ name: 'app', image: 'app:v1', containerId: 'c1', imageId: 'sha256:v1' }],
      targets: [{ loadBalancer: 'edge', target, scope: 'web', prior: 'ready', untouched: false }],
    },
  }
}

/** A run whose calls are answered by the test. */
function createBed({ window = 1, ports = {}, traffic = {} }: BedOptions = {}) {
  const clock = createVirtualClock()
  const seen = new Map<string, Observation>()
  const states = new Map<string, string>()
  const details = new Map<string, string>()
  const inputFor = (pod: PodView): PodUpgradeInput => ({
    ...seen.get(pod.uid)!,
    pod,
    run: 'run-1',
    epoch: 1,
    wanted: [{ container: 'app', image: 'app:v2' }],
    rehearsed: true,
    ...(pod.ip === undefined ? {} : { address: pod.ip }),
    gone: false,
  })
  const rollout = createRollout({
    clock,
    settings: {
      maxUnavailable: { count: window },
      readyForMs: 0,
      onFailure: 'hold',
      drainDeadlineMs: 60_000,
      onDrainDeadline: 'fail',
      restartDeadlineMs: 60_000,
      readyDeadlineMs: 60_000,
      restoreDeadlineMs: 60_000,
    },
    window,
    store: {
      all: () => seen.values(),
      get: (uid) => seen.get(uid),
      observe: () => seen.values().next().value!,
      stop: async () => {},
    },
    endpoints: { readiness: () => null, stop: async () => {} },
    traffic: { isVolatile: () => false, lateMs: () => 0, settleMs: () => 0, ...traffic } as unknown as Traffic,
    ports: { ...missingPorts, snapshot: never, inspect: never, store: never, settle: never, ...ports },
    includes: () => true,
    inputFor,
    expectsHeir: () => true,
    isOperatorOut: () => false,
    onRest() {},
    onStalled() {},
    tell(event) {
      if (event.type === 'podState') states.set(event.pod, event.to)
      if (event.type === 'podState') details.set(event.pod, event.reason)
      if (event.type === 'podDetail') details.set(event.pod, event.detail)
    },
  })
  return {
    clock,
    rollout,
    states,
    details,
    inputFor,
    async see(pod: PodView, stored: Observation['stored'] = { kind: 'none' }) {
      seen.set(pod.uid, { pod, stored })
      rollout.onPod(pod.uid)
      await clock.advance(0)
    },
  }
}

interface BedOptions {
  window?: number
  ports?: Partial<PodPorts>
  traffic?: Partial<Traffic>
}

const never = (): Promise<never> => new Promise(() => {})

test('a pod that has come to the address of one that is being settled waits, also where it got the address later', async () => {
  let settle: (answer: { kind: 'stored' }) => void = () => {}
  const bed = createBed({
    window: 3,
    ports: {
      inspect: async () => ({ state: 'in', inFlight: 0, detail: 'in' }),
      settle: () => new Promise((resolve) => (settle = resolve as typeof settle)),
    },
  })
  const gone = podAt('web-2')
  const { ip: _, ...unaddressed } = podAt('web-3')
  await bed.see(unaddressed)
  bed.rollout.start([{ ...bed.inputFor(podAt('web-3')), pod: gone, stored: journalOf('web-2'), address: '10.0.0.2', gone: true }])
  await bed.clock.advance(0)
  await bed.see(podAt('web-3', { ip: '10.0.0.2' }))
  expect(bed.states.get('web-2')).toBe('settling')
  expect([bed.states.get('web-3'), bed.details.get('web-3')]).toEqual([
    'queued',
    'what was drained for web-2 at its address is not settled yet',
  ])
  settle({ kind: 'stored' })
  await bed.clock.advance(0)
  expect([bed.states.get('web-2'), bed.states.get('web-3')]).toEqual(['done', 'checking'])
})

test('a pod that is only being checked gives its place back when another goes down', async () => {
  const bed = createBed()
  await bed.see(podAt('web-1'))
  await bed.see(podAt('web-2'))
  bed.rollout.start([])
  await bed.clock.advance(0)
  expect([...bed.states.values()]).toEqual(['checking', 'queued'])
  await bed.see(podAt('web-2', { ready: false }))
  expect([...bed.states.values()]).toEqual(['queued', 'checking'])
  expect(bed.details.get('web-1')).toBe('the window of 1 is full: web-2 is not ready')
})

test('a pod that failed is guarded against a reload of its load balancer for as long as the run goes on', async () => {
  const drained: string[] = []
  const bed = createBed({
    ports: { inspect: async () => ({ state: 'out', inFlight: 0, detail: 'out' }) },
    traffic: {
      isVolatile: () => true,
      inspect: async () => ({ state: 'in', inFlight: 0, detail: 'in' }),
      async effect({ pod, effect }) {
        drained.push(`${effect} ${pod}`)
        return { kind: 'applied' }
      },
    },
  })
  const waiting = { reason: 'InvalidImageName', message: 'no such name' }
  const containers = [{ name: 'app', image: 'app:v2', status: { image: 'app:v1', running: false, waiting } }]
  // Another one goes on for as long as the test does.
  await bed.see(podAt('web-2', { generation: 2, observedGeneration: 1 }), journalOf('web-2', 'patched'))
  await bed.see(podAt('web-1', { generation: 2, observedGeneration: 2, containers }), journalOf('web-1', 'patched'))
  bed.rollout.start([])
  await bed.clock.advance(0)
  expect(bed.states.get('web-1')).toBe('failed')
  await bed.clock.advance(2_000)
  expect(new Set(drained)).toContain('drain web-1')
})

test('held, a run takes in no new pod, and what an earlier owner has left open all the same', async () => {
  const bed = createBed()
  bed.rollout.start([])
  bed.rollout.hold('a pod failed')
  await bed.see(podAt('web-1'))
  await bed.see(podAt('web-2'), journalOf('web-2'))
  expect([...bed.states.keys()]).toEqual(['web-2'])
})

test('a pod that has failed before holds the run as soon as it is taken in, and the others are named all the same', async () => {
  const bed = createBed({ ports: { inspect: async () => ({ state: 'out', inFlight: 0, detail: 'out' }) } })
  const waiting = { reason: 'InvalidImageName', message: 'no such name' }
  const containers = [{ name: 'app', image: 'app:v2', status: { image: 'app:v1', running: false, waiting } }]
  const rollback = { ...journalOf('web-1', 'patched') }
  const journal = { ...(rollback as { journal: Journal }).journal, rollback: [{ container: 'app', image: 'app:v1' }] }
  await bed.see(podAt('web-1', { generation: 2, observedGeneration: 1, containers }), { kind: 'read', journal })
  await bed.see(podAt('web-2'))
  bed.rollout.start([])
  await bed.clock.advance(0)
  expect([...bed.states.keys()]).toEqual(['web-1', 'web-2'])
})

test('checkpointed, it takes in nothing', async () => {
  const bed = createBed()
  await bed.see(podAt('web-1'))
  bed.rollout.start([])
  await bed.clock.advance(0)
  bed.rollout.checkpoint()
  await bed.see(podAt('web-2'), journalOf('web-2'))
  expect([...bed.states.keys()]).toEqual(['web-1'])
})
