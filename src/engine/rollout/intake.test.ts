import { isHeirIn } from '../../workloads/kinds/heirs.ts'
import { KINDS } from '../../workloads/kinds/index.ts'
import { upgradeOrder } from '../../workloads/kinds/upgrade-order.ts'
import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { describe, expect, test } from 'vitest'
import { said } from '../testing/said.ts'
import type { Reason } from '../../reasons/reason.ts'
import type { Observation, PodUpgradeInput } from '../../../machines/pod-upgrade/context.ts'
import type { EffectAnswer, PodPorts, StoreAnswer } from '../../../machines/pod-upgrade/ports.ts'
import { missingPorts } from '../../../machines/pod-upgrade/ports.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import type { Journal, PodView, TrafficReading } from '../../pods/glossary.ts'
import type { RawPodOptions } from '../../pods/testing/raw-pod.ts'
import { testPod } from '../../pods/testing/raw-pod.ts'
import type { PodResult } from '../events.ts'
import { createRollout } from './rollout.ts'
import type { RunSettings } from '../settings.ts'
import type { Traffic } from '../traffic/traffic.ts'

/* The pods of a run that leave, and their times, as the other pods decide. */

const HELD = { code: 'held-after', pod: 'web-9', ending: 'failed' } as const
/** A window of 1 that is filled by pods that are not ready. */
const fullOf = (...pods: string[]) => ({
  code: 'window-taken',
  size: 1,
  pods: pods.map((pod) => ({ pod, standing: 'not-ready', because: { code: 'pod-not-ready' } })),
  lacking: [],
  counts: [],
})

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
      targets: journalTargets(target),
    },
  }
}

function journalTargets(target: string): Journal['targets'] {
  return [{ loadBalancer: 'edge', target, scope: 'web', prior: 'ready', untouched: false }]
}

const BAD_IMAGE: RawPodOptions['containers'] = [
  {
    name: 'app',
    image: 'app:v2',
    status: { image: 'app:v1', running: false, waiting: { reason: 'InvalidImageName', message: 'no name: "app:v2"' } },
  },
]

const UPGRADED: RawPodOptions['containers'] = [
  {
    name: 'app',
    image: 'app:v2',
    status: { id: 'c-2', image: 'app:v2', imageId: 'sha256:v2', running: true, ready: true },
  },
]

/** A load balancer that forgets its drains by a reload. Its calls are noted in `told`. */
function forgetful(told: string[], state: () => 'in' | 'out' = () => 'in'): Partial<Traffic> {
  return {
    isVolatile: () => true,
    inspect: async () => ({ state: state(), inFlight: 0, detail: said(state()) }),
    async effect({ pod, effect }) {
      told.push(`${effect} ${pod}`)
      return { kind: 'applied' }
    },
  }
}

/** A run whose calls are answered by the test. */
function createBed({
  window = 1,
  maxUnavailable = { count: window },
  onFailure = 'hold',
  expectsHeir = () => true,
  ports = {},
  traffic = {},
  beside = [],
}: BedOptions = {}) {
  let isCurrent = true
  let isBroken = true
  let isBesideCurrent = true
  let isWorkloadCurrent = true
  const clock = createVirtualClock()
  const seen = new Map<string, Observation>()
  const states = new Map<string, string>()
  const details = new Map<string, Reason | undefined>()
  const stalled: Reason[] = []
  const results: PodResult[] = []
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
      maxUnavailable,
      readyForMs: 0,
      onFailure,
      drainDeadlineMs: 60_000,
      onDrainDeadline: 'fail',
      restartDeadlineMs: 60_000,
      rollbackDeadlineMs: 60_000,
      readyDeadlineMs: 60_000,
      restoreDeadlineMs: 60_000,
    },
    window,
    store: {
      all: () => seen.values(),
      get: (uid) => seen.get(uid),
      observe: () => seen.values().next().value!,
      announce: () => seen.values().next().value!,
      isHeard: () => true,
      isCurrent: () => isCurrent,
      isBroken: () => !isCurrent && isBroken,
      refresh: async () => {},
      stop: async () => {},
    },
    workloads: [
      {
        ref: { ...STATEFUL_SET, name: 'web', namespace: 'default' },
        uid: 'web',
        owns: () => false,
        desired: () => undefined,
        replaces: () => true,
        isCurrent: () => isWorkloadCurrent,
        isBroken: () => !isWorkloadCurrent,
      },
    ],
    beside: {
      all: () => beside,
      isCurrent: () => isBesideCurrent,
      isBroken: () => !isBesideCurrent,
      announce: () => {},
      isHeard: () => true,
      refresh: async () => {},
    },
    refresh: async () => {},
    asking: { pod: async () => 'known', answered: () => {} },
    endpoints: { of: () => [], isCurrent: () => true, look: async () => {}, refresh: async () => {}, stop: async () => {} },
    traffic: {
      isVolatile: () => false,
      hasOvertaken: () => false,
      lateMs: () => 0,
      settleMs: () => 0,
      ...traffic,
    } as unknown as Traffic,
    ports: { ...missingPorts, snapshot: never, inspect: never, store: never, settle: never, ...ports },
    includes: () => true,
    inputFor,
    isHeir: isHeirIn(KINDS),
    byUpgradeOrder: upgradeOrder(KINDS),
    minReadyMs: () => 0,
    availability: { pendingOf: () => new Map() },
    expectsHeir,
    operatorOut: () => 'none',
    drainedFor: () => undefined,
    isUnserved: () => false,
    onRest() {},
    onStalled: (reason) => void stalled.push(reason),
    tell(event) {
      if (event.type === 'podFinished') results.push(event.result)
      if (event.type === 'podState') states.set(event.pod, event.to)
      if (event.type === 'podState') details.set(event.pod, event.waiting)
      if (event.type === 'podDetail') details.set(event.pod, event.waiting)
    },
  })
  return {
    clock,
    rollout,
    states,
    details,
    stalled,
    results: () => results,
    inputFor,
    async look(sees: boolean, { anew = false } = {}) {
      isCurrent = sees
      isBroken = !anew
      rollout.onSight()
      await clock.advance(0)
    },
    async lookBeside(sees: boolean) {
      isBesideCurrent = sees
      rollout.onSight()
      await clock.advance(0)
    },
    async lookAtWorkload(sees: boolean) {
      isWorkloadCurrent = sees
      rollout.onWorkload()
      await clock.advance(0)
    },
    async lose(name: string) {
      seen.delete(name)
      rollout.onGone(name)
      await clock.advance(0)
    },
    async see(pod: PodView, stored: Observation['stored'] = { kind: 'none' }) {
      seen.set(pod.uid, { pod, stored })
      rollout.onPod(pod.uid)
      await clock.advance(0)
    },
  }
}

interface BedOptions {
  /** The window of the plan. */
  window?: number
  maxUnavailable?: RunSettings['maxUnavailable']
  onFailure?: 'hold' | 'rollback'
  expectsHeir?: (pod: PodView) => boolean
  ports?: Partial<PodPorts>
  traffic?: Partial<Traffic>
  /** The pods of the workload that the run does not include. */
  beside?: Observation[]
}

const never = (): Promise<never> => new Promise(() => {})

test('a pod that has come to the address of one that is being settled waits, also where it got the address later', async () => {
  let settle: (answer: { kind: 'stored' }) => void = () => {}
  const bed = createBed({
    window: 3,
    ports: {
      inspect: async () => ({ state: 'in', inFlight: 0, detail: said('in') }),
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
  expect([bed.states.get('web-3'), bed.details.get('web-3')]).toEqual(['queued', { code: 'awaits-settlement', pod: 'web-2' }])
  settle({ kind: 'stored' })
  await bed.clock.advance(0)
  expect([bed.states.get('web-2'), bed.states.get('web-3')]).toEqual(['done', 'checking'])
})

test('what was drained is put back for the pod in its place once that can be watched again', async () => {
  const intents: string[] = []
  const bed = createBed({
    ports: {
      inspect: async () => ({ state: 'out', inFlight: 0, detail: said('out') }),
      settle({ settlement }) {
        intents.push(settlement)
        return never()
      },
    },
  })
  await bed.see(podAt('web-3', { ip: '10.0.0.2' }))
  await bed.look(false)
  const gone = podAt('web-2', { ip: '10.0.0.2' })
  bed.rollout.start([{ ...bed.inputFor(podAt('web-3')), pod: gone, stored: journalOf('web-2'), address: '10.0.0.2', gone: true }])
  await bed.clock.advance(0)
  expect([bed.details.get('web-2'), intents]).toEqual([{ code: 'replacement-not-ready', replacement: 'web-3' }, []])
  await bed.look(true)
  expect(intents).toEqual(['restore'])
})

test('and for one that was not asked for, once those beside can be watched; nothing else is done with it', async () => {
  const intents: string[] = []
  const heir = podAt('web-3', { ip: '10.0.0.2' })
  const bed = createBed({
    beside: [{ pod: heir, stored: { kind: 'none' } }],
    ports: {
      inspect: async () => ({ state: 'out', inFlight: 0, detail: said('out') }),
      settle({ settlement }) {
        intents.push(settlement)
        return never()
      },
    },
  })
  await bed.lookBeside(false)
  const gone = podAt('web-2', { ip: '10.0.0.2' })
  bed.rollout.start([{ ...bed.inputFor(heir), pod: gone, stored: journalOf('web-2'), address: '10.0.0.2', gone: true }])
  await bed.clock.advance(0)
  expect([bed.details.get('web-2'), intents]).toEqual([{ code: 'replacement-not-ready', replacement: 'web-3' }, []])
  await bed.lookBeside(true)
  expect([intents, [...bed.states.keys()]]).toEqual([['restore'], ['web-2']])
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
  expect(bed.details.get('web-1')).toEqual(fullOf('web-2'))
})

test('a fault of sluice itself leaves the pod to a person, and out as its record says; no other is begun', async () => {
  const bed = createBed({
    ports: {
      inspect: async () => ({ state: 'in', inFlight: 0, detail: said('in') }),
      effect: async () => undefined as unknown as EffectAnswer,
    },
  })
  await bed.see(podAt('web-2'), journalOf('web-2'))
  await bed.see(podAt('web-1'))
  bed.rollout.start([])
  await bed.clock.advance(0)
  const error = expect.stringContaining('TypeError') as string
  expect(bed.results()).toMatchObject([
    { pod: 'web-2', outcome: 'needsOperator', reason: { code: 'bug', error }, traffic: 'out', record: 'open' },
    { pod: 'web-1', outcome: 'unchanged', reason: { code: 'not-started' }, traffic: 'asBefore' },
  ])
})

test('where no pod is to start any more, none is said to wait for the window', async () => {
  const bed = createBed({
    ports: { inspect: async () => ({ state: 'in', inFlight: 0, detail: said('in') }), compare: async () => ({ kind: 'equal' }) },
  })
  await bed.see(podAt('web-3', { containers: UPGRADED }), journalOf('web-3', 'restore'))
  await bed.see(podAt('web-2'))
  await bed.see(podAt('web-1'))
  await bed.see(podAt('web-0'), { kind: 'unreadable', problem: { code: 'record-not-json' } })
  bed.rollout.start([])
  await bed.clock.advance(0)
  expect(Object.fromEntries(bed.states)).toEqual({
    'web-3': 'closing',
    'web-2': 'queued',
    'web-1': 'queued',
    'web-0': 'needsOperator',
  })
  const held = { code: 'no-further-start' }
  expect([bed.details.get('web-2'), bed.details.get('web-1')]).toEqual([held, held])
})

test('nor is it drained where another goes down while its drain intent is written', async () => {
  let answer: (value: Awaited<ReturnType<PodPorts['store']>>) => void = () => {}
  const steps: string[] = []
  const bed = createBed({
    ports: {
      snapshot: async () => ({ kind: 'taken', targets: journalTargets('web-1'), address: '10.0.0.1' }),
      enroll: async () => ({ kind: 'stored' }),
      store: ({ record }) => {
        steps.push(record.step)
        return new Promise((resolve) => (answer = resolve))
      },
    },
  })
  await bed.see(podAt('web-1'))
  await bed.see(podAt('web-2', { containers: UPGRADED }))
  bed.rollout.start([])
  await bed.clock.advance(0)
  expect([bed.states.get('web-1'), steps]).toEqual(['draining', ['drain']])
  await bed.see(podAt('web-2', { containers: UPGRADED, ready: false }))
  answer({ kind: 'stored', seen: { pod: podAt('web-1'), stored: journalOf('web-1') } })
  await bed.clock.advance(0)
  expect([bed.states.get('web-1'), steps]).toEqual(['closing', ['drain', 'closed']])
})

test('pods that cannot be watched for as long as a place is waited for end the run, with a reason', async () => {
  const bed = createBed()
  await bed.look(false)
  await bed.see(podAt('web-1'))
  bed.rollout.start([])
  await bed.clock.advance(70_000)
  expect(bed.stalled).toEqual([{ code: 'window-stalled', because: { code: 'cannot-watch' }, forMs: 60_000 }])
  const seeing = createBed()
  await seeing.look(false)
  await seeing.see(podAt('web-1'))
  seeing.rollout.start([])
  await seeing.clock.advance(30_000)
  await seeing.look(true)
  await seeing.clock.advance(70_000)
  expect(seeing.stalled).toEqual([])
})

test('a pod that waits for a place with an earlier owner’s intent, and is looked at meanwhile, does not put off the end', async () => {
  const bed = createBed({
    ports: {
      inspect: () =>
        new Promise((resolve) => bed.clock.setTimeout(() => resolve({ state: 'in', inFlight: 0, detail: said('in') }), 100)),
    },
  })
  const others = ['web-2', 'web-3'].map((name) => podAt(name, { ready: false }))
  await bed.see(podAt('web-1'), journalOf('web-1'))
  for (const pod of others) await bed.see(pod)
  bed.rollout.start([])
  for (let passed = 0; passed < 70_000; passed += 50) {
    await bed.see(others[0]!)
    await bed.clock.advance(50)
  }
  expect(bed.stalled).toEqual([{ code: 'window-stalled', because: fullOf('web-2', 'web-3'), forMs: 60_000 }])
  expect(bed.states.get('web-1')).toBe('draining')
})

test('a share of the pods is one of those that are left when some are scaled away', async () => {
  const names = ['web-1', 'web-2', 'web-3', 'web-4']
  const { see, lose, rollout, states, clock } = createBed({ window: 2, maxUnavailable: { percent: 50 } })
  for (const name of names) await see(podAt(name))
  rollout.start([])
  await clock.advance(0)
  expect(names.map((name) => states.get(name))).toEqual(['checking', 'checking', 'queued', 'queued'])
  for (const name of ['web-3', 'web-4']) await lose(name)
  // The replacements of these pods are waited for until here.
  await clock.advance(60_000)
  expect(names.map((name) => states.get(name))).toEqual(['checking', 'queued', 'done', 'done'])
})

test('nor one of those that are still there, and to be scaled away', async () => {
  const names = ['web-1', 'web-2', 'web-3', 'web-4']
  const kept = new Set(names)
  const { see, rollout, states, clock } = createBed({
    window: 2,
    maxUnavailable: { percent: 50 },
    expectsHeir: ({ name }) => kept.has(name),
  })
  for (const name of names) await see(podAt(name))
  rollout.start([])
  await clock.advance(0)
  expect(names.map((name) => states.get(name))).toEqual(['checking', 'checking', 'queued', 'queued'])
  kept.delete('web-4')
  rollout.onWorkload()
  await clock.advance(0)
  expect(names.map((name) => states.get(name))).toEqual(['checking', 'queued', 'queued', 'queued'])
})

test('a pod of which it has come out in its turn that an operator has it out takes a place from then on', async () => {
  const targets = journalTargets('web-1').map((target) => ({ ...target, untouched: true }))
  const bed = createBed({
    ports: {
      snapshot: async ({ uid, pod }) => (uid === 'web-1' ? { kind: 'taken', targets, address: pod.ip! } : never()),
      enroll: async () => ({ kind: 'stored' }),
      // The pod runs the images by the time of the look.
      store: async () => ({ kind: 'rejected', reason: said('test failed') }),
      read: async () => ({ kind: 'read', seen: { pod: podAt('web-1', { containers: UPGRADED }), stored: { kind: 'none' } } }),
    },
  })
  for (const name of ['web-1', 'web-2']) await bed.see(podAt(name))
  bed.rollout.start([])
  await bed.clock.advance(0)
  expect(bed.states.get('web-1')).not.toBe('checking')
  expect([bed.states.get('web-2'), bed.details.get('web-2')]).toEqual([
    'queued',
    { ...fullOf(), pods: [{ pod: 'web-1', standing: 'operator' }] },
  ])
})

test('a pod waits for one whose restore is under way at its address as that one is deleted', async () => {
  let restored: (answer: { kind: 'applied' }) => void = () => {}
  const bed = createBed({
    window: 2,
    ports: {
      inspect: async () => ({ state: 'out', inFlight: 0, detail: said('out') }),
      effect: () => new Promise((resolve) => (restored = resolve as typeof restored)),
    },
  })
  await bed.see(podAt('web-1'), journalOf('web-1', 'restore'))
  bed.rollout.start([])
  await bed.clock.advance(0)
  expect(bed.states.get('web-1')).toBe('restoring')
  await bed.lose('web-1')
  await bed.see(podAt('web-2', { ip: '10.0.0.1' }))
  expect([bed.states.get('web-1'), bed.states.has('web-2')]).toEqual(['restoring', false])
  restored({ kind: 'applied' })
  await bed.clock.advance(0)
  expect(bed.states.get('web-1')).not.toBe('restoring')
})

test('control: one at another address does not wait', async () => {
  const bed = createBed({
    window: 2,
    ports: { inspect: async () => ({ state: 'out', inFlight: 0, detail: said('out') }), effect: never },
  })
  await bed.see(podAt('web-1'), journalOf('web-1', 'restore'))
  bed.rollout.start([])
  await bed.clock.advance(0)
  await bed.lose('web-1')
  await bed.see(podAt('web-2'))
  expect(bed.states.get('web-2')).toBe('checking')
})

test('while the pods cannot be watched none starts, and one that is being checked waits', async () => {
  const bed = createBed()
  await bed.see(podAt('web-1'))
  bed.rollout.start([])
  await bed.clock.advance(0)
  expect(bed.states.get('web-1')).toBe('checking')
  await bed.look(false)
  expect([bed.states.get('web-1'), bed.details.get('web-1')]).toEqual(['queued', { code: 'cannot-watch' }])
  await bed.look(true)
  expect(bed.states.get('web-1')).toBe('checking')
})

test('while they are looked at anew none starts either, and no word is lost on it', async () => {
  const bed = createBed({ window: 1 })
  await bed.see(podAt('web-1'))
  await bed.look(false, { anew: true })
  bed.rollout.start([])
  await bed.clock.advance(0)
  const before = bed.details.get('web-1')
  expect([bed.states.get('web-1'), before]).not.toContain({ code: 'cannot-watch' })
  expect(bed.states.get('web-1')).toBe('queued')
  await bed.look(true)
  expect(bed.states.get('web-1')).toBe('checking')
})

test('nor while their workload cannot be: how many pods it lacks is not known', async () => {
  const bed = createBed()
  await bed.see(podAt('web-1'))
  bed.rollout.start([])
  await bed.clock.advance(0)
  expect(bed.states.get('web-1')).toBe('checking')
  await bed.lookAtWorkload(false)
  expect([bed.states.get('web-1'), bed.details.get('web-1')]).toEqual([
    'queued',
    { code: 'cannot-watch', workload: 'statefulset/web' },
  ])
  await bed.lookAtWorkload(true)
  expect(bed.states.get('web-1')).toBe('checking')
})

test('a pod whose drain intent is not stored gives its place back when another goes down', async () => {
  let reaches = false
  const bed = createBed({
    ports: {
      snapshot: async ({ uid }) =>
        uid === 'web-1' ? { kind: 'taken', targets: journalTargets('web-1'), address: '10.0.0.1' } : never(),
      enroll: async () => ({ kind: 'stored' }),
      store: async () =>
        reaches
          ? { kind: 'stored', seen: { pod: podAt('web-1'), stored: journalOf('web-1', 'closed') } }
          : { kind: 'unknown', reason: said('connection reset') },
      read: async () => ({ kind: 'read', seen: { pod: podAt('web-1'), stored: { kind: 'none' } } }),
    },
  })
  await bed.see(podAt('web-1'))
  await bed.see(podAt('web-2'))
  bed.rollout.start([])
  await bed.clock.advance(0)
  expect([...bed.states.values()]).toEqual(['draining', 'queued'])
  reaches = true
  await bed.see(podAt('web-2', { ready: false }))
  expect(bed.states.get('web-1')).toBe('queued')
})

/** One pod that failed and stays out, in a load balancer that may `forget` it. */
const failingBed = async () => {
  const drained: string[] = []
  let state: 'out' | 'in' = 'out'
  const bed = createBed({
    ports: { inspect: async () => ({ state: 'out', inFlight: 0, detail: said('out') }) },
    traffic: forgetful(drained, () => state),
  })
  await bed.see(podAt('web-1', { generation: 2, observedGeneration: 2, containers: BAD_IMAGE }), journalOf('web-1', 'patched'))
  bed.rollout.start([])
  return { bed, drained, forget: () => void (state = 'in') }
}

test('what stays out is looked at once more when all is done, and drained again where it was forgotten', async () => {
  const { bed, drained, forget } = await failingBed()
  expect((await bed.rollout.finished).map(({ outcome }) => outcome)).toEqual(['failed'])
  await bed.rollout.secure()
  expect(drained).toEqual([])
  forget()
  await bed.rollout.secure()
  expect(drained).toEqual(['drain web-1'])
})

test('what stays out is looked after until the run has told all that it has to tell', async () => {
  const { bed, drained, forget } = await failingBed()
  await bed.rollout.finished
  await bed.clock.advance(5_000)
  forget()
  await bed.clock.advance(500)
  expect(drained).toEqual(['drain web-1'])
  bed.rollout.stop()
  await bed.see(podAt('web-1', { generation: 2, observedGeneration: 2, containers: BAD_IMAGE, ready: false }))
  await bed.clock.advance(5_000)
  expect([drained, bed.clock.pending()]).toEqual([['drain web-1'], 0])
})

test('a pod that failed is guarded against a reload of its load balancer for as long as the run goes on', async () => {
  const drained: string[] = []
  const bed = createBed({
    ports: { inspect: async () => ({ state: 'out', inFlight: 0, detail: said('out') }) },
    traffic: forgetful(drained),
  })
  // The other pod goes on for as long as the test runs.
  await bed.see(podAt('web-2', { generation: 2, observedGeneration: 1 }), journalOf('web-2', 'patched'))
  await bed.see(podAt('web-1', { generation: 2, observedGeneration: 2, containers: BAD_IMAGE }), journalOf('web-1', 'patched'))
  bed.rollout.start([])
  await bed.clock.advance(0)
  expect(bed.states.get('web-1')).toBe('failed')
  await bed.clock.advance(2_000)
  expect(new Set(drained)).toContain('drain web-1')
})

test('a pod whose images patch is under way is guarded against a reload too', async () => {
  const drained: string[] = []
  const bed = createBed({
    ports: {
      snapshot: async () => ({ kind: 'taken', targets: journalTargets('web-1'), address: '10.0.0.1' }),
      enroll: async () => ({ kind: 'stored' }),
      store: async ({ record }) =>
        record.step === 'drain' ? { kind: 'stored', seen: { pod: podAt('web-1'), stored: journalOf('web-1') } } : never(),
      effect: async () => ({ kind: 'applied' }),
      inspect: async () => ({ state: 'out', inFlight: 0, detail: said('out') }),
    },
    traffic: forgetful(drained),
  })
  await bed.see(podAt('web-1'))
  bed.rollout.start([])
  await bed.clock.advance(0)
  expect(bed.states.get('web-1')).toBe('patching')
  await bed.clock.advance(2_000)
  expect(new Set(drained)).toEqual(new Set(['drain web-1']))
})

test('a pod whose container has ended as it was about to be put back is guarded against a reload too', async () => {
  const pod = podAt('web-1', { generation: 2, observedGeneration: 2, containers: UPGRADED })
  const { see, rollout, states, clock } = createBed({
    ports: {
      inspect: async () => ({ state: 'out', inFlight: 0, detail: said('out') }),
      store: async () => ({ kind: 'rejected', reason: said('test failed') }),
      read: async () => ({ kind: 'read', seen: { pod: { ...pod, ready: false }, stored: journalOf('web-1', 'patched') } }),
      effect: never,
    },
    traffic: forgetful([]),
  })
  await see(pod, journalOf('web-1', 'patched'))
  rollout.start([])
  // The restore intent was refused.
  await clock.advance(0)
  expect(states.get('web-1')).toBe('warming')
  await clock.advance(1_000)
  expect(states.get('web-1')).toBe('restarting')
})

test('a pod that an earlier run has patched to other images is guarded before all load balancers say that it is out', async () => {
  const drained: string[] = []
  const { see, rollout, states, clock } = createBed({
    ports: {
      // One load balancer does not answer.
      inspect: async () => ({ state: 'unknown', inFlight: null, detail: said('no answer') }),
      async effect({ uid, effect }) {
        drained.push(`${effect} ${uid}`)
        return { kind: 'unknown', reason: said('no answer') }
      },
    },
    traffic: forgetful([]),
  })
  const containers = UPGRADED!.map((one) => ({ ...one, image: 'app:v3' }))
  await see(podAt('web-1', { generation: 2, observedGeneration: 1, ready: false, containers }), journalOf('web-1', 'patched'))
  rollout.start([])
  await clock.advance(0)
  expect([states.get('web-1'), drained]).toEqual(['draining', []])
  await clock.advance(5_000)
  expect(drained).toContain('drain web-1')
})

test('a pod that goes back to its former images is guarded against a reload too', async () => {
  const drained: string[] = []
  const bed = createBed({
    onFailure: 'rollback',
    ports: { inspect: async () => ({ state: 'out', inFlight: 0, detail: said('out') }) },
    traffic: forgetful(drained),
  })
  await bed.see(podAt('web-1', { generation: 2, observedGeneration: 2, containers: BAD_IMAGE }), journalOf('web-1', 'patched'))
  bed.rollout.start([])
  await bed.clock.advance(0)
  expect(bed.states.get('web-1')).toBe('rollingBack')
  await bed.clock.advance(1_000)
  expect(drained).toContain('drain web-1')
})

test.each([true, false])('a drain that was made besides, and may still arrive (%s), is waited out', async (hasOvertaken) => {
  const stored: string[] = []
  const bed = createBed({
    ports: {
      inspect: async () => ({ state: 'out', inFlight: 0, detail: said('out') }),
      store({ record }) {
        stored.push(record.step)
        return never()
      },
    },
    traffic: { hasOvertaken: () => hasOvertaken, lateMs: () => (hasOvertaken ? 15_000 : 0) },
  })
  await bed.see(podAt('web-1', { generation: 2, observedGeneration: 2, containers: UPGRADED }), journalOf('web-1', 'patched'))
  bed.rollout.start([])
  await bed.clock.advance(5_000)
  expect(stored).toEqual(hasOvertaken ? [] : ['restore'])
})

test('a pod that is put back while a look for a reload is under way is not drained again', async () => {
  const drained: string[] = []
  let looked: (reading: TrafficReading) => void = () => {}
  let answered: (answer: StoreAnswer) => void = () => {}
  const bed = createBed({
    ports: {
      inspect: async () => ({ state: 'out', inFlight: 0, detail: said('out') }),
      store: ({ record }) => (record.step === 'patched' ? new Promise((resolve) => (answered = resolve)) : never()),
      read: async () => ({ kind: 'read', seen: { pod: podAt('web-1'), stored: journalOf('web-1') } }),
    },
    traffic: { ...forgetful(drained), inspect: () => new Promise((resolve) => (looked = resolve)) },
  })
  await bed.see(podAt('web-1'), journalOf('web-1'))
  bed.rollout.start([])
  await bed.clock.advance(0)
  expect(bed.states.get('web-1')).toBe('patching')
  await bed.clock.advance(500)
  bed.rollout.hold({ code: 'interrupted' })
  answered({ kind: 'rejected', reason: said('not now') })
  await bed.clock.advance(0)
  expect(bed.states.get('web-1')).toBe('readmitting')
  bed.rollout.checkpoint()
  looked({ state: 'in', inFlight: 0, detail: said('in') })
  await bed.clock.advance(2_000)
  expect(drained).toEqual([])
})

test.each([
  { name: 'its pod is there', goes: false, expected: ['drain web-1'] },
  { name: 'its pod has gone: the ledger settles it', goes: true, expected: [] },
])('a run that ends looks once more at what is out: $name', async ({ goes, expected }) => {
  const drained: string[] = []
  const bed = createBed({
    ports: { inspect: async () => ({ state: 'out', inFlight: 0, detail: said('out') }) },
    traffic: forgetful(drained),
  })
  await bed.see(podAt('web-1', { generation: 2, observedGeneration: 1 }), journalOf('web-1', 'patched'))
  bed.rollout.start([])
  await bed.clock.advance(0)
  if (goes) await bed.lose('web-1')
  bed.rollout.checkpoint()
  await bed.rollout.finished
  await bed.rollout.secure()
  expect(drained).toEqual(expected)
})

test('what comes up when all is done is left to another run', async () => {
  const bed = createBed()
  await bed.see(podAt('web-1', { containers: UPGRADED }))
  bed.rollout.start([])
  expect((await bed.rollout.finished).map(({ outcome }) => outcome)).toEqual(['skipped'])
  await bed.see(podAt('web-2'))
  expect(bed.states.has('web-2')).toBe(false)
})

describe('an earlier owner meant to drain a pod, and has not', () => {
  async function adopted(others: RawPodOptions) {
    const calls: string[] = []
    const bed = createBed({
      ports: {
        inspect: async () => ({ state: 'in', inFlight: 0, detail: said('in') }),
        effect({ effect, uid }) {
          calls.push(`${effect} ${uid}`)
          return never()
        },
        store({ record, uid }) {
          calls.push(`store ${record.step} ${uid}`)
          return never()
        },
      },
    })
    await bed.see(podAt('web-1'), journalOf('web-1'))
    await bed.see(podAt('web-2', others))
    bed.rollout.start([])
    await bed.clock.advance(0)
    return { ...bed, calls }
  }

  test('where the window has a place, it is drained', async () => {
    const { calls } = await adopted({})
    expect(calls).toEqual(['drain web-1'])
  })

  test('where another has gone down since, it waits, and says so', async () => {
    const { calls, clock, details, see, states } = await adopted({ ready: false })
    await clock.advance(60_000)
    expect(calls).toEqual([])
    expect([states.get('web-1'), details.get('web-1')]).toEqual(['draining', fullOf('web-2')])
    await see(podAt('web-2'))
    expect(calls).toEqual(['drain web-1'])
  })

  test('where nothing more is started, it is put back', async () => {
    const { calls, clock, rollout } = await adopted({ ready: false })
    rollout.hold(HELD)
    await clock.advance(0)
    expect(calls).toEqual(['store restore web-1'])
  })
})

test('held, a run takes in no new pod, and what an earlier owner has left open all the same', async () => {
  const bed = createBed()
  await bed.see(podAt('web-3'), journalOf('web-3'))
  bed.rollout.start([])
  await bed.clock.advance(0)
  bed.rollout.hold(HELD)
  await bed.see(podAt('web-1'))
  await bed.see(podAt('web-2'), journalOf('web-2'))
  expect([...bed.states.keys()]).toEqual(['web-3', 'web-2'])
})

test('a pod that has failed before holds the run as soon as it is taken in, and the others are named all the same', async () => {
  const bed = createBed({ ports: { inspect: async () => ({ state: 'out', inFlight: 0, detail: said('out') }) } })
  const rollback = { ...journalOf('web-1', 'patched') }
  const journal = { ...(rollback as { journal: Journal }).journal, rollback: [{ container: 'app', image: 'app:v1' }] }
  await bed.see(podAt('web-1', { generation: 2, observedGeneration: 1, containers: BAD_IMAGE }), { kind: 'read', journal })
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

test.each([{ finished: true }, { deleting: true }])(
  'one that waits for its turn and ends so, and whose object stays (%j), ends the run',
  async (how) => {
    const bed = createBed({
      ports: {
        snapshot: async () => ({ kind: 'taken', targets: [], address: '10.0.0.2' }),
        enroll: async () => ({ kind: 'stored' }),
      },
    })
    let isFinished = false
    void bed.rollout.finished.then(() => (isFinished = true))
    await bed.see(podAt('web-1', { containers: UPGRADED, ready: false }))
    await bed.see(podAt('web-2'))
    bed.rollout.start([])
    await bed.clock.advance(0)
    expect(bed.states.get('web-2')).toBe('queued')
    await bed.see({ ...podAt('web-2'), ...how })
    await bed.see(podAt('web-1', { containers: UPGRADED }))
    await bed.clock.advance(24 * 3_600_000)
    expect([...bed.states, ['finished', isFinished], ['stalled', bed.stalled]]).toEqual([
      ['web-1', 'done'],
      ['web-2', 'done'],
      ['finished', true],
      ['stalled', []],
    ])
  },
)

test('a pod of a ReplicaSet without a Deployment that is on its way out takes a place until it is gone', async () => {
  const bed = createBed()
  await bed.see({ ...podAt('web-1', { containers: UPGRADED, ready: false }), deleting: true })
  await bed.see(podAt('web-2'))
  bed.rollout.start([])
  await bed.clock.advance(0)
  expect(bed.states.get('web-2')).toBe('queued')
})

test.each([{ deleting: true }, { finished: true }])(
  'one that goes (%j), and whose record cannot be read, needs a person',
  async (how) => {
    const bed = createBed()
    await bed.see({ ...podAt('web-1'), ...how }, { kind: 'unreadable', problem: { code: 'record-not-json' } })
    await bed.see({ ...podAt('web-2'), ...how })
    bed.rollout.start([])
    await bed.clock.advance(0)
    expect([...bed.states]).toEqual([['web-1', 'needsOperator']])
  },
)
