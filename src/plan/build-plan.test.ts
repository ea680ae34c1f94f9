import { KINDS } from '../workloads/kinds/index.ts'
import { upgradeOrder } from '../workloads/kinds/upgrade-order.ts'
import { STATEFUL_SET } from '../workloads/kinds/stateful-set.ts'
import { expect, test } from 'vitest'
import type { Journal, ReadJournal } from '../pods/glossary.ts'
import { runningA, testPod } from '../pods/testing/raw-pod.ts'
import type { RawPodOptions } from '../pods/testing/raw-pod.ts'
import type { PlanInput, PlanPod } from './build-plan.ts'
import { buildPlan } from './build-plan.ts'
import type { Refusal } from './plan.ts'

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
    warnings: [],
    refusals: [],
    ...overrides,
  })
}

test.each([
  { pod: podOf('web-0'), action: 'upgrade', reason: 'in rotation' },
  { pod: podOf('web-0', {}, { ready: false }), action: 'upgrade', reason: 'in rotation, and not ready' },
  { pod: podOf('web-0', OUT), action: 'upgrade', reason: 'an operator has it out of rotation: it is left exactly so' },
  {
    pod: podOf('web-0', { targets: { found: true, targets: [], lookedFor: 'edge has no entry at 10.0.0.1:80' } }),
    action: 'upgrade',
    reason: 'edge has no entry at 10.0.0.1:80: no drain',
  },
  {
    pod: podOf('web-0', {
      targets: {
        found: true,
        targets: [{ loadBalancer: 'inner', target: 'a', inRotation: true }],
        lookedFor: 'edge has no entry at 10.0.0.1:80',
      },
    }),
    action: 'upgrade',
    reason: 'in rotation; edge has no entry at 10.0.0.1:80: no drain there',
  },
  { pod: podOf('web-0', {}, V2), action: 'skip', reason: 'it runs these images already' },
  {
    pod: podOf('web-0', {}, { deleting: true }),
    action: 'skip',
    reason: 'it is Terminating, due to be gone at 2026-01-01T00:01:00Z',
  },
  { pod: podOf('web-0', { stored: at('closed') }), action: 'upgrade', reason: 'in rotation' },
  { pod: podOf('web-0', { stored: at('closed') }, V2), action: 'skip', reason: 'it runs these images already' },
  {
    pod: podOf('web-0', { stored: at('drain') }),
    action: 'adopt',
    reason: 'an earlier run has drained it: goes on with the patch',
  },
  {
    pod: podOf('web-0', { stored: at('patched') }, V2),
    action: 'adopt',
    reason: 'an earlier run has patched it: goes on from there',
  },
  // Found by trial: it was said to go on to images that it never got.
  {
    pod: podOf('web-0', { stored: at('patched', { rollback: [{ container: 'app', image: 'registry/app:v1' }] }) }),
    action: 'adopt',
    reason:
      'an earlier run is rolling it back to app=registry/app:v1: the same request ends that, another goes on to its own images',
  },
  {
    pod: podOf('web-0', { stored: at('restore') }, V2),
    action: 'adopt',
    reason: 'an earlier run was putting it back: goes on from there',
  },
  {
    pod: podOf('web-0', { stored: at('drain') }, { deleting: true }),
    action: 'adopt',
    reason: 'an earlier run has drained it: goes on with the patch',
  },
])('$action: $reason', ({ pod, action, reason }) => {
  const { pods, refusals } = planOf([pod])
  expect(pods).toMatchObject([{ action, reason, uid: 'uid-web-0', name: 'web-0' }])
  expect(refusals).toEqual([])
})

test('a pod that is partly out by an operator is drained where it is in', () => {
  const targets = [
    { loadBalancer: 'edge', target: 'a', inRotation: true },
    { loadBalancer: 'inner', target: 'b', inRotation: false },
  ]
  expect(planOf([podOf('web-0', { targets: { found: true, targets } })]).pods).toMatchObject([
    { action: 'upgrade', reason: 'in rotation', targets },
  ])
})

test('what changes is told, container by container', () => {
  expect(planOf([podOf('web-0')]).pods[0]!.images).toEqual([{ container: 'app', from: 'registry/app:v1', to: 'registry/app:v2' }])
})

test('refuses a pod whose journal cannot be read', () => {
  const unreadable = { stored: { kind: 'unreadable', reason: 'it is not JSON' } } as const
  const { pods, refusals } = planOf([podOf('web-0', { ...unreadable, isOnRecord: true })])
  expect(pods).toMatchObject([{ action: 'refuse', reason: 'its journal cannot be read: it is not JSON' }])
  expect(refusals).toEqual([
    {
      code: 'unreadable-journal',
      message: 'pod/web-0: its journal cannot be read: it is not JSON',
      hint: expect.stringContaining('--traffic in, that it is in rotation'),
      command: 'sluice resolve pod/web-0 -n shop --traffic out',
    },
  ])
  // That it is out is not taken of a pod of which no run says what it was.
  expect(planOf([podOf('web-0', unreadable)]).refusals).toEqual([
    {
      code: 'unreadable-journal',
      message: 'pod/web-0: its journal cannot be read: it is not JSON',
      hint: expect.stringMatching(/bring it into rotation by hand, and say so:$/),
      command: 'sluice resolve pod/web-0 -n shop --traffic in',
    },
  ])
})

// Found by simulation: its template was edited, and the drained pod was not named.
test('that a journal cannot be read is told beside what its workload refuses; what the images are wrong about is not', () => {
  const template: Refusal = { code: 'template-drift', message: 'the template differs', hint: 'Accept it.' }
  const unreadable = podOf('web-0', { stored: { kind: 'unreadable', reason: 'it is not JSON' } })
  const notFound = podOf('web-1', { targets: { found: false, reason: 'edge has no server at its address' } })
  const { refusals } = planOf([unreadable, notFound], { refusals: [template] })
  expect(refusals.map(({ code }) => code)).toEqual(['template-drift', 'unreadable-journal'])
})

test('refuses a pod that is in no load balancer, though not one that needs nothing', () => {
  const missing: Partial<PlanPod> = { targets: { found: false, reason: 'edge: 10.0.0.1:80 is none of the 3 servers' } }
  const { pods, refusals } = planOf([podOf('web-1', missing, { ip: '10.0.0.1' }), podOf('web-0', missing, V2)])
  expect(pods.map(({ name, action }) => [name, action])).toEqual([
    ['web-0', 'skip'],
    ['web-1', 'refuse'],
  ])
  expect(refusals).toEqual([
    {
      code: 'not-in-load-balancer',
      message: 'pod/web-1: it cannot be drained: edge: 10.0.0.1:80 is none of the 3 servers',
      // Found by trial: of two servers with its address the flag was offered, and the run with it refused in the same words.
      hint: expect.stringMatching(
        /^Add it .*, mend its entries there, .*Service, a NodePort .* cannot be found\. Only one that gets no requests .* by --allow-unbalanced\.$/,
      ),
    },
  ])
})

test('a pod with entries that cannot be used is not let through, and no flag is offered', () => {
  const missing: Partial<PlanPod> = { targets: { found: false, reason: 'edge: two servers have its address', isThere: true } }
  expect(planOf([podOf('web-1', missing, { ip: '10.0.0.1' })]).refusals).toMatchObject([
    { code: 'not-in-load-balancer', hint: 'Mend its entries in the load balancer, or mend the config.' },
  ])
})

test('says wait where a pod has no address yet', () => {
  const missing: Partial<PlanPod> = { targets: { found: false, reason: 'web-1 has no address yet' } }
  expect(planOf([podOf('web-1', missing)]).refusals).toEqual([
    {
      code: 'no-address',
      message: 'pod/web-1: it cannot be drained: web-1 has no address yet',
      hint: 'Wait until it has started, or see why it does not.',
    },
  ])
})

test('refuses where there are no pods', () => {
  expect(planOf([]).refusals).toEqual([
    { code: 'no-pods', message: 'no pods match', hint: 'Check the name or the selector, and the namespace (-n).' },
  ])
  expect(planOf([podOf('web-0', {}, { phase: 'Succeeded' })]).refusals).toMatchObject([{ code: 'no-pods' }])
  const gone: Refusal = { code: 'workload-gone', message: 'the workload is gone', hint: 'Make it anew.' }
  expect(planOf([], { refusals: [gone] }).refusals).toEqual([gone])
})

test('refuses where what an operator has out fills the window', () => {
  const { refusals } = planOf([podOf('web-0', OUT), podOf('web-1')])
  expect(refusals).toEqual([
    {
      code: 'window-full',
      message: 'pod/web-0: out of rotation by an operator, so that with maxUnavailable 1 no other pod may leave',
      hint: 'Put them back once they are ready, or raise maxUnavailable.',
    },
  ])
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
  // Beside what stays out on the wanted images, and what serves on them.
  expect(planOf([podOf('web-0', { ...OUT }, V2), podOf('web-1', OUT), podOf('web-2', {}, V2)]).refusals).toEqual([])
  // Control: one of them was put back, and would leave.
  const { refusals } = planOf([podOf('web-0', OUT), podOf('web-1', OUT), podOf('web-2')])
  expect(refusals.map(({ message }) => message)).toEqual([
    'pod/web-0, pod/web-1: out of rotation by an operator, so that with maxUnavailable 1 no other pod may leave',
  ])
})

test('where an operator has two of them out in part, neither would ever leave where it is in', () => {
  expect(planOf([podOf('web-0', PARTLY), podOf('web-1', PARTLY)]).refusals.map(({ message }) => message)).toEqual([
    'pod/web-0, pod/web-1: out of rotation in part by an operator, so that with maxUnavailable 1 no pod may leave rotation',
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
  const unreadable = podOf('web-1', { ...OUT, stored: { kind: 'unreadable', reason: 'no JSON' } })
  const refusals = (pod: PlanPod) => planOf([podOf('web-0'), pod]).refusals.map(({ code }) => code)
  expect(refusals(unreadable)).toEqual(['unreadable-journal'])
  expect(refusals(podOf('web-1', OUT))).toEqual(['window-full'])
})

const GONE = { loadBalancer: 'edge', target: 'web/web-2', scope: 'web', prior: 'ready', untouched: false }

test('a pod that no load balancer has takes no requests: it counts against the window', () => {
  const nowhere = { targets: { found: false as const, reason: 'edge: no server has the address 10.0.0.9' } }
  const refused = (pods: PlanPod[], window = 1, leftOut: PlanInput['leftOut'] = []): string[] =>
    planOf(pods, { maxUnavailable: { count: window }, leftOut }).refusals.map(({ code, message }) => `${code} ${message}`)
  const unserved = podOf('web-1', nowhere, { ...V2, ready: true })
  expect(refused([podOf('web-0'), unserved])).toEqual([
    'window-full pod/web-1: not in every load balancer (edge: no server has the address 10.0.0.9), ' +
      'so that with maxUnavailable 1 no other pod may leave',
  ])
  // Control: there is room, nobody would leave, it is not ready and counts so, or what is half done would stay so for it.
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
  const nowhere = { targets: { found: false as const, reason: 'edge: no server has the address 10.0.0.9' } }
  const warned = (pod: PlanPod): string[] => planOf([pod, podOf('web-1')]).warnings
  expect(warned(podOf('web-0', nowhere, V2))).toEqual([
    'pod/web-0 runs these images already, and is not in every load balancer: edge: no server has the address 10.0.0.9',
  ])
  // Found by a new user: of one that an undo leaves as it is that was not so.
  expect(warned({ ...podOf('web-0', nowhere, V2), stays: 'it came later' })).toEqual([
    'pod/web-0 stays as it is, and is not in every load balancer: edge: no server has the address 10.0.0.9',
  ])
  // Control: that goes, is known, or is refused for it.
  expect(warned(podOf('web-0', nowhere, { ...V2, deleting: true }))).toEqual([])
  expect(warned(podOf('web-0', {}, V2))).toEqual([])
  expect(warned(podOf('web-0', nowhere))).toEqual([])
})
