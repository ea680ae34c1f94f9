import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { expect, test } from 'vitest'
import { said } from '../testing/said.ts'
import type { PodResult } from '../events.ts'
import type { Observation } from '../../../machines/pod-upgrade/context.ts'
import type { WindowPod } from '../../plan/window.ts'
import { admit } from '../../plan/window.ts'
import type { PodView } from '../../pods/glossary.ts'
import type { RawPodOptions } from '../../pods/testing/raw-pod.ts'
import { testPod } from '../../pods/testing/raw-pod.ts'
import type { PodState } from '../events.ts'
import type { PodOwner } from './missing-pods.ts'
import type { PodStore } from '../../observation/pod-store.ts'
import type { WindowMember } from './window-pods.ts'
import { windowPods } from './window-pods.ts'

const WEB = { ...STATEFUL_SET, name: 'web', uid: 'web' }

function podAt(name: string, ip: string, change: RawPodOptions = {}): PodView {
  return testPod({ name, uid: name, owner: WEB, ip, containers: [{ name: 'app', image: 'app:v1' }], ready: true, ...change })
}

interface Given {
  isUnserved?: (pod: PodView) => boolean
  /** The pods as they are observed. */
  pods: readonly PodView[]
  member: Partial<WindowMember> & { pod: PodView }
  others?: readonly (Partial<WindowMember> & { pod: PodView })[]
  expectsHeir?: boolean
  /** The number of pods that there should be. */
  desired?: number
  drainedFor?: (uid: string) => string | undefined
}

function ownerOf(desired: number): PodOwner {
  const ref = { ...STATEFUL_SET, namespace: 'default', name: 'web' } as const
  return { ref, uid: 'web', owns: ({ owner }) => owner?.uid === WEB.uid, desired: () => desired, replaces: () => true }
}

function memberOf(member: Given['member']): WindowMember {
  const { uid, name, ip: address } = member.pod
  return { uid, name, address, state: 'done', result: undefined, gone: false, mustWait: false, wasFound: true, ...member }
}

function windowOf({
  pods,
  member,
  others = [],
  expectsHeir = true,
  desired = 0,
  drainedFor = () => undefined,
  isUnserved = () => false,
}: Given): WindowPod[] {
  return windowPods({
    store: { get: (wanted: string) => pods.map((pod) => ({ pod })).find(({ pod }) => pod.uid === wanted) } as unknown as PodStore,
    included: pods.map((pod) => ({ pod, stored: { kind: 'none' } })),
    beside: [],
    members: [member, ...others].map(memberOf),
    workloads: [ownerOf(desired)],
    expectsHeir: () => expectsHeir,
    operatorOut: () => 'none',
    drainedFor,
    isUnserved,
    availability: { pendingOf: () => new Map() },
  })
}

/** The pods that count as out. The first one is in this state, and was found at `foundAt`. */
function out(pods: readonly PodView[], foundAt: string, state: PodState = 'settling'): string[] {
  const found = windowOf({ pods, member: { pod: pods[0]!, state, address: foundAt } })
  return found.filter(({ operatorOut }) => operatorOut !== 'none').map(({ name }) => name)
}

test('a pod that has come to an address that is still drained for another is out with it', () => {
  const pods = [podAt('web-0', '10.0.0.9'), podAt('web-1', '10.0.0.1'), podAt('web-2', '10.0.0.2')]
  expect(out(pods, '10.0.0.1')).toEqual(['web-1'])
  expect(out(pods, '10.0.0.9')).toEqual([])
})

test('a pod that has come to a host port that is still drained for another is out with it', () => {
  const ports = [{ containerPort: 80, hostPort: 30_080 }]
  const on = (name: string, ip: string, host: string): PodView =>
    podAt(name, ip, { hostIps: [host], containers: [{ name: 'app', image: 'app:v1', ports }] })
  const pods = [
    on('web-0', '10.0.0.9', '192.168.0.5'),
    on('web-1', '10.0.0.1', '192.168.0.5'),
    on('web-2', '10.0.0.2', '192.168.0.6'),
  ]
  expect(out(pods, '10.0.0.9')).toEqual(['web-1'])
  expect(out(pods, '10.0.0.9', 'checking')).toEqual([])
})

test('nothing is drained for a pod that is only being checked', () => {
  const pods = [podAt('web-0', '10.0.0.9'), podAt('web-1', '10.0.0.1')]
  expect(out(pods, '10.0.0.1', 'checking')).toEqual([])
  expect(out(pods, '10.0.0.1', 'draining')).toEqual(['web-1'])
})

test('pods on the host’s network share an address, and each has a target of its own', () => {
  const pods = [podAt('web-0', '192.168.0.1'), podAt('web-1', '192.168.0.1')]
  const shared = pods.map((pod) => ({ ...pod, hostNetwork: true }))
  expect(out(shared, '192.168.0.1')).toEqual([])
})

test('a pod that is known to be gone before the watch says so is missing until something has come in its place', () => {
  const pod = podAt('web-0', '10.0.0.1')
  const other = podAt('web-1', '10.0.0.2')
  const missing = (given: Partial<Given>): number =>
    windowOf({ pods: [pod, other], member: { pod, gone: true }, ...given }).filter(({ standing }) => standing === 'missing')
      .length
  expect(missing({ desired: 2 })).toBe(1)
  expect(missing({ desired: 2, pods: [other] })).toBe(1)
  expect(missing({ desired: 2, pods: [{ ...pod, finished: true }, other] })).toBe(1)
  expect(missing({ desired: 2, pods: [pod, podAt('web-0-again', '10.0.0.9'), other] })).toBe(0)
  expect(missing({ desired: 1 })).toBe(0)
  // Control: the pod is not known to be gone.
  expect(missing({ desired: 2, member: { pod } })).toBe(0)
})

test('one that waits for its turn, and is on its way out, takes no turn', () => {
  const [pod, other] = [{ ...podAt('web-0', '10.0.0.1'), deleting: true }, podAt('web-1', '10.0.0.2')]
  const pods = windowOf({
    pods: [pod, other],
    member: { pod, state: 'queued' },
    others: [{ pod: other, state: 'queued' }],
    desired: 2,
  })
  expect(pods.map(({ name, standing }) => [name, standing])).toEqual([
    ['statefulset/web', 'missing'],
    ['web-1', 'waiting'],
  ])
})

test('a ready pod that is not known to be in the load balancers counts as unserved, while others wait for their turn', () => {
  const waiting = podAt('web-0', '10.0.0.1')
  const made = podAt('web-1', '10.0.0.9')
  const unserved = (pods: readonly PodView[], member: Given['member']): string[] =>
    windowOf({ pods, member, isUnserved: () => true }).flatMap((one) => (one.unserved ? [one.name] : []))
  expect(unserved([waiting, made], { pod: waiting, state: 'queued' })).toEqual(['web-1'])
  // Control: no pod waits, or the pod counts as not ready in any case.
  expect(unserved([waiting, made], { pod: waiting, state: 'done' })).toEqual([])
  expect(unserved([waiting, { ...made, ready: false }], { pod: waiting, state: 'queued' })).toEqual([])
})

test('it is not asked what sluice itself has out there for the one before it, which takes the place', () => {
  const [gone, heir, waiting] = [podAt('web-1', '10.0.0.9'), podAt('web-1b', '10.0.0.9'), podAt('web-0', '10.0.0.1')] as const
  const asked: string[] = []
  const pods = windowOf({
    pods: [heir, waiting],
    member: { pod: gone, state: 'settling', gone: true },
    others: [{ pod: waiting, state: 'queued' }],
    isUnserved: ({ name }) => asked.push(name) > 0,
  })
  expect([asked, pods.find(({ uid }) => uid === heir.uid)]).toMatchObject([[], { operatorOut: 'some', unserved: false }])
})

test('one that waits for its turn itself counts so too, unless it is known to be there', () => {
  const waiting = podAt('web-0', '10.0.0.1')
  const isUnserved = ({ name }: PodView): boolean => name === 'web-0'
  const [one] = windowOf({ pods: [waiting], member: { pod: waiting, state: 'queued', wasFound: false }, isUnserved })
  expect(one).toMatchObject({ standing: 'waiting', unserved: true })
  const [known] = windowOf({ pods: [waiting], member: { pod: waiting, state: 'queued', wasFound: false } })
  expect(known).toMatchObject({ standing: 'waiting', unserved: false })
})

test('where a pod was found says nothing of where it is now', () => {
  const moved = podAt('web-0', '10.0.0.9')
  const waits = { pod: podAt('web-1', '10.0.0.1'), state: 'queued' as const }
  const unserved = (address: string): boolean | undefined =>
    windowOf({ pods: [moved], member: { pod: moved, address }, others: [waits], isUnserved: () => true })[0]?.unserved
  expect([unserved('10.0.0.1'), unserved('10.0.0.9')]).toEqual([true, false])
})

test('a pod beside the request takes a place where it is not ready, or another run may have left it half done', () => {
  const [meant, ready, left, broken, unread] = [
    podAt('web-0', '10.0.0.1'),
    podAt('web-1', '10.0.0.2'),
    podAt('web-2', '10.0.0.3'),
    podAt('web-3', '10.0.0.4', { ready: false }),
    podAt('web-4', '10.0.0.5'),
  ]
  const open = { kind: 'read', journal: { step: 'patched' } } as unknown as Observation['stored']
  const none = { kind: 'none' } as const
  const found = windowPods({
    store: { get: () => ({ pod: meant }) } as unknown as PodStore,
    included: [{ pod: meant!, stored: none }],
    beside: [
      { pod: ready!, stored: none },
      { pod: left!, stored: open },
      { pod: broken!, stored: none },
      { pod: unread!, stored: { kind: 'unreadable', problem: { code: 'record-not-json' } } },
    ],
    members: [memberOf({ pod: meant!, state: 'queued' })],
    workloads: [],
    expectsHeir: () => true,
    operatorOut: () => 'none',
    drainedFor: () => undefined,
    // The load balancers are not asked for these pods.
    isUnserved: ({ uid }) => uid !== meant!.uid,
    availability: { pendingOf: () => new Map() },
  })
  expect(admit(found, 3)).toMatchObject({
    start: [],
    waitingFor: {
      code: 'window-taken',
      size: 3,
      pods: [
        { pod: 'web-2', standing: 'left' },
        { pod: 'web-3', standing: 'not-ready' },
        { pod: 'web-4', standing: 'left' },
      ],
    },
  })
  expect(admit(found, 4).start).toEqual(['web-0'])
})

test.each([
  { how: { deleting: true }, expectsHeir: true, takes: true },
  { how: { deleting: true }, expectsHeir: false, takes: false },
  { how: { finished: true }, expectsHeir: true, takes: true },
  { how: { finished: true }, expectsHeir: false, takes: false },
])('one beside the request that is left half done and is no more ($how): $takes', ({ how, expectsHeir, takes }) => {
  const meant = podAt('web-0', '10.0.0.1')
  const left = { ...podAt('web-1', '10.0.0.2'), ...how }
  const found = windowPods({
    store: { get: () => ({ pod: meant }) } as unknown as PodStore,
    included: [{ pod: meant, stored: { kind: 'none' } }],
    beside: [{ pod: left, stored: { kind: 'unreadable', problem: { code: 'record-not-json' } } }],
    members: [memberOf({ pod: meant, state: 'queued' })],
    workloads: [],
    expectsHeir: () => expectsHeir,
    operatorOut: () => 'none',
    drainedFor: () => undefined,
    isUnserved: () => false,
    availability: { pendingOf: () => new Map() },
  })
  expect(admit(found, 1).start).toEqual(takes ? [] : ['web-0'])
})

test.each([
  { state: 'needsOperator', out: true },
  { state: 'done', out: false },
] as const)('one whose entry is that of a pod at $state, drained: it is out, $out', ({ state, out: isOut }) => {
  const [moved, entered] = [podAt('web-0', '10.0.0.9'), podAt('web-1', '10.0.0.5')]
  const result: PodResult = {
    uid: moved.uid,
    pod: 'web-0',
    outcome: 'needsOperator',
    reason: said('no answer'),
    traffic: isOut ? 'out' : 'asBefore',
    record: 'open',
    advice: [],
    phases: {},
  }
  const drainedFor = (uid: string): string | undefined => (uid === entered.uid ? moved.uid : undefined)
  const found = windowOf({ pods: [moved, entered], member: { pod: moved, state, result }, drainedFor })
  expect(found.map(({ name, operatorOut }) => [name, operatorOut])).toContainEqual(['web-1', isOut ? 'some' : 'none'])
})
