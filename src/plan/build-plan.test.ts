import { KINDS } from '../workloads/kinds/index.ts'
import { upgradeOrder } from '../workloads/kinds/upgrade-order.ts'
import { STATEFUL_SET } from '../workloads/kinds/stateful-set.ts'
import { expect, test } from 'vitest'
import type { Journal, ReadJournal } from '../pods/glossary.ts'
import { runningA, testPod } from '../pods/testing/raw-pod.ts'
import type { RawPodOptions } from '../pods/testing/raw-pod.ts'
import type { PlanInput, PlanPod } from './build-plan.ts'
import { buildPlan } from './build-plan.ts'
import type { PodAction, Refusal } from './plan.ts'
import type { Reason, ReasonOf } from '../reasons/reason.ts'

const NOT_FOUND: Reason = { code: 'not-found', loadBalancer: 'edge', said: 'no server has the address 10.0.0.9' }
const WANTED = [{ container: 'app', image: 'registry/app:v2' }]
const at = (step: Journal['step'], more: Partial<Journal> = {}): ReadJournal => ({
  kind: 'read',
  journal: { run: 'r', epoch: 1, attempt: 1, step, baseline: [], targets: [], ...more },
})

function podOf(name: string, overrides: Partial<PlanPod> = {}, options: RawPodOptions = {}): PlanPod {
  return {
    pod: testPod({ name, uid: `uid-${name}`, ...options }),
    stored: { kind: 'none' },
    isOnRecord: false,
    images: WANTED,
    isKept: false,
    targets: { found: true, targets: [{ loadBalancer: 'edge', target: name, inRotation: true }] },
    ...overrides,
  }
}

const V2: RawPodOptions = { containers: [{ name: 'app', image: 'registry/app:v2', status: runningA }] }
const OUT: Partial<PlanPod> = {
  targets: { found: true, targets: [{ loadBalancer: 'edge', target: 'x', inRotation: false }] },
}

function planOf(pods: PlanPod[], overrides: Partial<PlanInput> = {}): ReturnType<typeof buildPlan> {
  return buildPlan({
    byUpgradeOrder: upgradeOrder(KINDS),
    namespace: 'shop',
    workloads: [{ ...STATEFUL_SET, name: 'web', namespace: 'shop' }],
    maxUnavailable: { count: 1 },
    pods,
    leftOut: [],
    templates: [],
    guarantees: [],
    drainOrder: [],
    warnings: [],
    refusals: [],
    ...overrides,
  })
}

const NO_ENTRY: ReasonOf<'no-entry-at'> = { code: 'no-entry-at', loadBalancer: 'edge', addresses: ['10.0.0.1:80'] }
const IN_ROTATION: ReasonOf<'to-upgrade'> = { code: 'to-upgrade', rotation: 'in', lookedFor: [], waitsForNode: false }

test.each<{ pod: PlanPod; action: PodAction; reason: Reason }>([
  { pod: podOf('web-0'), action: 'upgrade', reason: IN_ROTATION },
  { pod: podOf('web-0', { isKept: true }), action: 'upgrade', reason: { ...IN_ROTATION, rotation: 'kept' } },
  // The plan does not look for a pod that needs no drain.
  {
    pod: podOf('web-0', { isKept: true, targets: { found: false, reason: NOT_FOUND } }),
    action: 'upgrade',
    reason: { ...IN_ROTATION, rotation: 'kept' },
  },
  {
    pod: podOf('web-0', {}, { ready: false }),
    action: 'upgrade',
    reason: { ...IN_ROTATION, standing: { code: 'pod-not-ready' } },
  },
  { pod: podOf('web-0', OUT), action: 'upgrade', reason: { ...IN_ROTATION, rotation: 'operator' } },
  {
    pod: podOf('web-0', { targets: { found: true, targets: [], lookedFor: [NO_ENTRY] } }),
    action: 'upgrade',
    reason: { ...IN_ROTATION, rotation: 'none', lookedFor: [NO_ENTRY] },
  },
  {
    pod: podOf('web-0', {
      targets: {
        found: true,
        targets: [{ loadBalancer: 'inner', target: 'a', inRotation: true }],
        lookedFor: [NO_ENTRY],
      },
    }),
    action: 'upgrade',
    reason: { ...IN_ROTATION, lookedFor: [NO_ENTRY] },
  },
  { pod: podOf('web-0', {}, V2), action: 'skip', reason: { code: 'runs-wanted-images', ready: true } },
  {
    pod: podOf('web-0', {}, { deleting: true }),
    action: 'skip',
    reason: { code: 'terminating', dueAt: '2026-01-01T00:01:00Z', finalizers: [] },
  },
  { pod: podOf('web-0', { stored: at('closed') }), action: 'upgrade', reason: IN_ROTATION },
  { pod: podOf('web-0', { stored: at('closed') }, V2), action: 'skip', reason: { code: 'runs-wanted-images', ready: true } },
  {
    pod: podOf('web-0', { stored: at('drain') }),
    action: 'adopt',
    reason: { code: 'goes-on-with-patch' },
  },
  {
    pod: podOf('web-0', { stored: at('patched') }, V2),
    action: 'adopt',
    reason: { code: 'goes-on-from-patch' },
  },
  // The reason names the former images, which the rollback puts in, and not the wanted images.
  {
    pod: podOf('web-0', { stored: at('patched', { rollback: [{ container: 'app', image: 'registry/app:v1' }] }) }),
    action: 'adopt',
    reason: { code: 'goes-on-with-rollback', images: [{ container: 'app', image: 'registry/app:v1' }] },
  },
  {
    pod: podOf('web-0', { stored: at('restore') }, V2),
    action: 'adopt',
    reason: { code: 'goes-on-with-restore' },
  },
  {
    pod: podOf('web-0', { stored: at('drain') }, { deleting: true }),
    action: 'adopt',
    reason: { code: 'goes-on-with-patch' },
  },
])('$action: $reason', ({ pod, action, reason }) => {
  const { pods, refusals } = planOf([pod])
  expect(pods).toMatchObject([{ action, uid: 'uid-web-0', name: 'web-0' }])
  expect(pods[0]!.reason).toEqual(reason)
  expect(refusals).toEqual([])
})

test('a pod that is partly out by an operator is drained where it is in', () => {
  const targets = [
    { loadBalancer: 'edge', target: 'a', inRotation: true },
    { loadBalancer: 'inner', target: 'b', inRotation: false },
  ]
  expect(planOf([podOf('web-0', { targets: { found: true, targets } })]).pods).toMatchObject([
    { action: 'upgrade', reason: IN_ROTATION, targets },
  ])
})

test('what changes is told, container by container', () => {
  expect(planOf([podOf('web-0')]).pods[0]!.images).toEqual([{ container: 'app', from: 'registry/app:v1', to: 'registry/app:v2' }])
})

test('refuses a pod whose journal cannot be read', () => {
  const unreadable = { stored: { kind: 'unreadable', problem: { code: 'record-not-json' } } } as const
  const { pods, refusals } = planOf([podOf('web-0', { ...unreadable, isOnRecord: true })])
  const because = { code: 'journal-unreadable', problem: { code: 'record-not-json' } }
  const resolve = { command: 'resolve', pod: 'web-0', namespace: 'shop' }
  expect(pods).toMatchObject([{ action: 'refuse', reason: because }])
  expect(refusals).toEqual([
    { code: 'unreadable-journal', pod: 'web-0', because, isOnRecord: true, resolve: { ...resolve, traffic: 'out' } },
  ])
  // A pod that is on record in no run is not taken for drained.
  expect(planOf([podOf('web-0', unreadable)]).refusals).toEqual([
    { code: 'unreadable-journal', pod: 'web-0', because, isOnRecord: false, resolve: { ...resolve, traffic: 'in' } },
  ])
})

// An unreadable journal is named beside the refusal of the workload, since the pod may be drained.
test('that a journal cannot be read is told beside what its workload refuses; what the images are wrong about is not', () => {
  const template: Refusal = { code: 'template-drift', owner: 'deployment/web', made: 'ReplicaSet', by: 'Deployment', images: [] }
  const unreadable = podOf('web-0', { stored: { kind: 'unreadable', problem: { code: 'record-not-json' } } })
  const notFound = podOf('web-1', { targets: { found: false, reason: NO_ENTRY } })
  const { refusals } = planOf([unreadable, notFound], { refusals: [template] })
  expect(refusals.map(({ code }) => code)).toEqual(['template-drift', 'unreadable-journal'])
})

test('refuses a pod that is in no load balancer, though not one that needs nothing', () => {
  const missing: Partial<PlanPod> = { targets: { found: false, reason: NOT_FOUND } }
  const { pods, refusals } = planOf([podOf('web-1', missing, { ip: '10.0.0.1' }), podOf('web-0', missing, V2)])
  expect(pods.map(({ name, action }) => [name, action])).toEqual([
    ['web-0', 'skip'],
    ['web-1', 'refuse'],
  ])
  expect(refusals).toEqual([
    {
      code: 'not-in-load-balancer',
      pod: 'web-1',
      because: { code: 'not-drainable', because: NOT_FOUND },
      isThere: false,
    },
  ])
})

test('a pod with entries that cannot be used is not let through, and no flag is offered', () => {
  const missing: Partial<PlanPod> = { targets: { found: false, reason: NOT_FOUND, isThere: true } }
  expect(planOf([podOf('web-1', missing, { ip: '10.0.0.1' })]).refusals).toMatchObject([
    { code: 'not-in-load-balancer', pod: 'web-1', isThere: true },
  ])
})

test('says wait where a pod has no address yet', () => {
  const without: Reason = { code: 'pod-without-address', pod: 'web-1' }
  const missing: Partial<PlanPod> = { targets: { found: false, reason: without } }
  expect(planOf([podOf('web-1', missing)]).refusals).toEqual([
    { code: 'no-address', pod: 'web-1', because: { code: 'not-drainable', because: without } },
  ])
})

test('refuses where there are no pods', () => {
  expect(planOf([]).refusals).toEqual([{ code: 'no-pods' }])
  expect(planOf([podOf('web-0', {}, { phase: 'Succeeded' })]).refusals).toMatchObject([{ code: 'no-pods' }])
  const gone: Refusal = { code: 'workload-gone', workload: 'statefulset/web' }
  expect(planOf([], { refusals: [gone] }).refusals).toEqual([gone])
})

const FULL = { code: 'window-full', window: 1, operator: [], operatorInPart: [], unserved: [] }

test('refuses where what an operator has out fills the window', () => {
  const { refusals } = planOf([podOf('web-0', OUT), podOf('web-1')])
  expect(refusals).toEqual([{ ...FULL, operator: ['web-0'], anyOut: false }])
  expect(planOf([podOf('web-0', OUT), podOf('web-1')], { maxUnavailable: { count: 2 } }).refusals).toEqual([])
  expect(planOf([podOf('web-0', OUT)]).refusals).toEqual([])
  expect(planOf([podOf('web-0', OUT), podOf('web-1', {}, V2)]).refusals).toEqual([])
})

const PARTLY: Partial<PlanPod> = {
  targets: {
    found: true,
    targets: [
      { loadBalancer: 'edge', target: 'x', inRotation: false },
      { loadBalancer: 'inner', target: 'x', inRotation: true },
    ],
  },
}

test('where an operator has all of them out, none leaves rotation: they are upgraded', () => {
  expect(planOf([podOf('web-0', OUT), podOf('web-1', OUT), podOf('web-2', OUT)]).refusals).toEqual([])
  // A pod that stays out on the wanted images does not fill the window, and neither does a pod that serves on them.
  expect(planOf([podOf('web-0', { ...OUT }, V2), podOf('web-1', OUT), podOf('web-2', {}, V2)]).refusals).toEqual([])
  // Control: web-2 is in rotation, and its upgrade would leave rotation while the window is full.
  const { refusals } = planOf([podOf('web-0', OUT), podOf('web-1', OUT), podOf('web-2')])
  expect(refusals).toEqual([{ ...FULL, operator: ['web-0', 'web-1'], anyOut: false }])
})

test('where an operator has two of them out in part, neither would ever leave where it is in', () => {
  expect(planOf([podOf('web-0', PARTLY), podOf('web-1', PARTLY)]).refusals).toEqual([
    { ...FULL, operatorInPart: ['web-0', 'web-1'], anyOut: true },
  ])
  expect(planOf([podOf('web-0', PARTLY), podOf('web-1', PARTLY, V2)]).refusals).toMatchObject([{ code: 'window-full' }])
  expect(planOf([podOf('web-0', PARTLY), podOf('web-1', {}, V2)]).refusals).toEqual([])
})

test('not where that pod is half done: it is brought to its end, whoever had it out in part before', () => {
  expect(planOf([podOf('web-0', { ...OUT, stored: at('patched') }), podOf('web-1')]).refusals).toEqual([])
})

test('adopted pods first, then those to upgrade, then the others; each in the order of its workload', () => {
  const owner = { owner: { kind: 'StatefulSet', name: 'web', uid: 'u' } }
  const { pods } = planOf([
    podOf('web-0', {}, { ...owner, ...V2 }),
    podOf('web-1', {}, owner),
    podOf('web-10', {}, owner),
    podOf('web-2', { stored: at('patched') }, owner),
  ])
  expect(pods.map(({ name, action }) => `${name} ${action}`)).toEqual([
    'web-2 adopt',
    'web-10 upgrade',
    'web-1 upgrade',
    'web-0 skip',
  ])
})

test('each image is named once, and a share counts the pods that run', () => {
  const { images, window } = planOf(
    [podOf('web-0'), podOf('web-1'), podOf('web-2'), podOf('web-3'), podOf('web-4', {}, { phase: 'Failed' })],
    { maxUnavailable: { percent: 50 } },
  )
  expect(images).toEqual(WANTED)
  expect(window).toBe(2)
})

test('a share does not count pods that are being deleted beside those in their place', () => {
  const { window } = planOf(
    [podOf('web-0'), podOf('web-1'), podOf('old-0', {}, { deleting: true }), podOf('old-1', {}, { deleting: true })],
    { maxUnavailable: { percent: 50 } },
  )
  expect(window).toBe(1)
})

test('what a template gets is among the images, once, also where no pod does', () => {
  const workload = { ...STATEFUL_SET, name: 'web', namespace: 'shop' } as const
  const change = [{ container: 'app', from: 'registry/app:v3', to: 'registry/app:v1' }]
  const images = (to: string) =>
    planOf([podOf('web-0')], { templates: [{ workload, change: change.map((one) => ({ ...one, to })) }] }).images
  expect(images('registry/app:v1')).toEqual([...WANTED, { container: 'app', image: 'registry/app:v1' }])
  expect(images('registry/app:v2')).toEqual(WANTED)
})

test('a pod whose record cannot be read is refused for that, and not called out by an operator', () => {
  const unreadable = podOf('web-1', { ...OUT, stored: { kind: 'unreadable', problem: { code: 'record-not-json' } } })
  const refusals = (pod: PlanPod) => planOf([podOf('web-0'), pod]).refusals.map(({ code }) => code)
  expect(refusals(unreadable)).toEqual(['unreadable-journal'])
  expect(refusals(podOf('web-1', OUT))).toEqual(['window-full'])
})

const GONE = { loadBalancer: 'edge', target: 'web/web-2', scope: 'web', prior: 'ready', untouched: false }

test('a pod that no load balancer has takes no requests: it counts against the window', () => {
  const nowhere = { targets: { found: false as const, reason: NOT_FOUND } }
  const refused = (pods: PlanPod[], window = 1, leftOut: PlanInput['leftOut'] = []): Refusal[] =>
    planOf(pods, { maxUnavailable: { count: window }, leftOut }).refusals
  const unserved = podOf('web-1', nowhere, { ...V2, ready: true })
  expect(refused([podOf('web-0'), unserved])).toEqual([{ ...FULL, unserved: ['web-1'], because: NOT_FOUND, anyOut: false }])
  // Control: there is room, no pod would leave, the pod is not ready and counts so, or a half-done pod would stay out because of the
  // refusal.
  expect(refused([podOf('web-0'), unserved], 2)).toEqual([])
  expect(refused([podOf('web-0', {}, V2), unserved])).toEqual([])
  expect(refused([podOf('web-0'), podOf('web-1', nowhere, { ...V2, ready: false })])).toEqual([])
  expect(refused([podOf('web-0'), unserved, podOf('web-2', { stored: at('drain') })])).toEqual([])
  expect(refused([podOf('web-0'), unserved], 1, [GONE])).toEqual([])
})

test('what an earlier run has left out of rotation for a pod that is gone is told, but not what an operator had out', () => {
  const told = (...leftOut: PlanInput['leftOut']): unknown => planOf([podOf('web-0', {}, V2)], { leftOut }).leftOut
  expect(told(GONE)).toEqual([{ loadBalancer: 'edge', target: 'web/web-2' }])
  expect(told({ ...GONE, untouched: true })).toBeUndefined()
  expect(told()).toBeUndefined()
})

test('a pod that needs nothing, and that a load balancer does not know, is warned of', () => {
  const nowhere = { targets: { found: false as const, reason: NOT_FOUND } }
  const warned = (pod: PlanPod): Reason[] => planOf([pod, podOf('web-1')]).warnings
  expect(warned(podOf('web-0', nowhere, V2))).toEqual([
    { code: 'not-in-every-load-balancer', pod: 'web-0', stays: false, because: NOT_FOUND },
  ])
  // The warning also covers a pod that an undo leaves as it is.
  expect(warned({ ...podOf('web-0', nowhere, V2), stays: { code: 'not-of-undone-run', run: 'r1' } })).toEqual([
    { code: 'not-in-every-load-balancer', pod: 'web-0', stays: true, because: NOT_FOUND },
  ])
  // Control: a pod that is terminating, is known, or is refused for this reason.
  expect(warned(podOf('web-0', nowhere, { ...V2, deleting: true }))).toEqual([])
  expect(warned(podOf('web-0', {}, V2))).toEqual([])
  expect(warned(podOf('web-0', nowhere))).toEqual([])
})

test('a pod without the container is refused by its name', () => {
  const { pods } = planOf([podOf('web-0', { images: [{ container: 'log', image: 'registry/log:v2' }] })])
  expect(pods).toMatchObject([{ action: 'refuse', reason: { code: 'no-container', container: 'log' } }])
})
