import { isHeirIn } from '../../workloads/kinds/heirs.ts'
import { KINDS } from '../../workloads/kinds/index.ts'
import { DEPLOYMENT } from '../../workloads/kinds/deployment.ts'
import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { expect, test } from 'vitest'
import type { Observation } from '../../../machines/pod-upgrade/context.ts'
import type { Journal, JournalTarget, PodView } from '../../pods/glossary.ts'
import { testPod } from '../../pods/testing/raw-pod.ts'
import type { World } from '../world.ts'
import { heirOf, heirsIn } from './heirs.ts'

const isHeir = isHeirIn(KINDS)

const OWNER = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'set-1', controller: true }
const EDGE: JournalTarget = { loadBalancer: 'edge', target: 'web-0', scope: 'web', prior: 'ready', untouched: false }
const INNER: JournalTarget = { ...EDGE, loadBalancer: 'inner' }

const podAt = (uid: string, ip: string) =>
  testPod({ name: 'web-0', uid, ip, owner: OWNER, containers: [{ name: 'app', image: 'app:v1' }] })
const recordOf = (targets: JournalTarget[], step: Journal['step'] = 'drain'): Journal => ({
  run: 'run-1',
  epoch: 1,
  attempt: 1,
  step,
  baseline: [],
  targets,
})
const gone = podAt('old', '10.0.0.1')

function isDrained(before: JournalTarget[], journal: Journal): boolean | undefined {
  const heir: Observation = { pod: podAt('new', '10.0.0.1'), stored: { kind: 'read', journal } }
  return heirOf(gone, { record: recordOf(before), pods: [heir], isCurrent: true, isHeir })?.isDrained
}

test('none, at the same address, at another', () => {
  const stored = { kind: 'none' } as const
  const heirAmong = (pod: PodView) => heirOf(gone, { record: undefined, pods: [{ pod, stored }], isCurrent: true, isHeir })
  expect(heirAmong(gone)).toBeNull()
  expect(heirAmong(podAt('new', '10.0.0.1'))?.sameAddress).toBe(true)
  expect(heirAmong(podAt('new', '10.0.0.2'))?.sameAddress).toBe(false)
})

test('of a dual-stack pod all addresses count, as far as they are known', () => {
  const isAt = (before: string[] | undefined, now: string[] | undefined): boolean | undefined => {
    const there = { ...podAt('new', '10.0.0.1'), ...(now ? { otherIps: now } : {}) }
    const pods = [{ pod: there, stored: { kind: 'none' } as const }]
    return heirOf({ ...gone, ...(before ? { otherIps: before } : {}) }, { record: undefined, pods, isCurrent: true, isHeir })
      ?.sameAddress
  }
  expect([isAt(['fd00::1'], ['fd00::1']), isAt(['fd00::1'], ['fd00::9']), isAt(['fd00::1'], undefined)]).toEqual([
    true,
    false,
    false,
  ])
  expect(isAt(undefined, ['fd00::9'])).toBe(true)
})

test('it is ready where that is known of now', () => {
  const stored = { kind: 'none' } as const
  const isReady = (ready: boolean, isCurrent: boolean) =>
    heirOf(gone, {
      record: undefined,
      pods: [{ pod: { ...podAt('new', '10.0.0.1'), ready }, stored }],
      isCurrent,
      isHeir,
    })?.isReady
  expect([isReady(true, true), isReady(false, true), isReady(true, false)]).toEqual([true, false, false])
})

test('nor is one ready whose newest spec the kubelet has not seen', () => {
  const isReady = (generation: number, observedGeneration: number): boolean | undefined => {
    const pod = { ...podAt('new', '10.0.0.1'), ready: true, generation, observedGeneration }
    const stored = { kind: 'none' } as const
    return heirOf(gone, { record: undefined, pods: [{ pod, stored }], isCurrent: true, isHeir })?.isReady
  }
  expect([isReady(2, 1), isReady(2, 2), isReady(2, 0)]).toEqual([false, true, true])
})

/** Pods at one address, of ReplicaSets of the Deployments `web` and `web-api`. `present` has the pods that exist. */
function deployments(...present: string[]) {
  const podOf = (uid: string, replicaSet: string, kind = 'ReplicaSet'): PodView =>
    testPod({
      name: `${replicaSet}-${uid}`,
      uid,
      ip: '10.0.0.1',
      owner: { ...OWNER, kind, name: replicaSet, uid: replicaSet },
      containers: [{ name: 'app', image: 'app:v1' }],
    })
  const workloads = ['web', 'web-api'].map((name) => ({
    workload: { kind: KINDS.kindOf(DEPLOYMENT), ref: { ...DEPLOYMENT, name } },
  }))
  const workloadOf = ({ owner }: PodView) =>
    present.includes(owner!.uid)
      ? workloads.find(({ workload: { ref } }) => owner!.name.replace(/-[^-]*$/, '') === ref.name)
      : undefined
  return {
    podOf,
    isIn: heirsIn({ kinds: KINDS, workloadOf: workloadOf as unknown as World['workloadOf'], drainedFor: () => undefined }),
  }
}

test('of a Deployment also where the ReplicaSet of the pod before was removed, as one that has no pods any more is', () => {
  const { podOf, isIn } = deployments('web-b', 'web-api-b')
  expect(isIn(podOf('old', 'web-a'), podOf('new', 'web-b'))).toBe(true)
  // Control: another Deployment whose name begins the same, and no ReplicaSet.
  expect(isIn(podOf('old', 'web-a'), podOf('new', 'web-api-b'))).toBe(false)
  expect(isIn(podOf('old', 'web-api-a'), podOf('new', 'web-b'))).toBe(false)
  expect(isIn(podOf('old', 'web-a', 'StatefulSet'), podOf('new', 'web-b'))).toBe(false)
})

test('one that was evicted keeps its address, and does not hide the one that serves there now', () => {
  const stored = { kind: 'none' } as const
  const evicted = { ...podAt('evicted', '10.0.0.1'), finished: true, ready: false }
  const heirAmong = (...pods: PodView[]) =>
    heirOf(gone, { record: undefined, pods: pods.map((pod) => ({ pod, stored })), isCurrent: true, isHeir })
  expect(heirAmong(podAt('new', '10.0.0.1'), evicted)?.pod.uid).toBe('new')
  expect(heirAmong(evicted, podAt('new', '10.0.0.1'))?.pod.uid).toBe('new')
  expect(heirAmong(evicted)).toBeNull()
  // The drain of the evicted pod's own record is settled with the pod.
  const own: Observation = { pod: evicted, stored: { kind: 'read', journal: recordOf([EDGE]) } }
  expect(heirOf(gone, { record: recordOf([EDGE]), pods: [own], isCurrent: true, isHeir })?.isDrained).toBe(true)
})

test('of a Deployment also one of another ReplicaSet, where it is at the same address', () => {
  const podOf = (uid: string, replicaSet: string, ip = '10.0.0.1', deleting = false): PodView => ({
    ...testPod({
      name: `${replicaSet}-${uid}`,
      uid,
      ip,
      owner: { ...OWNER, kind: 'ReplicaSet', name: replicaSet, uid: replicaSet },
      containers: [{ name: 'app', image: 'app:v1' }],
    }),
    deleting,
  })
  const old = podOf('old', 'web-a')
  const workloads = ['web', 'api'].map((name) => ({ workload: { kind: KINDS.kindOf(DEPLOYMENT), ref: { ...DEPLOYMENT, name } } }))
  const deployment = ({ owner }: PodView) => workloads.find(({ workload: { ref } }) => owner?.uid.startsWith(`${ref.name}-`))
  const drainedFor = (uid: string): string | undefined => (uid === 'pointed at' ? 'old' : undefined)
  const isIn = heirsIn({ kinds: KINDS, workloadOf: deployment as unknown as World['workloadOf'], drainedFor })
  expect(isHeir(old, podOf('new', 'web-b'))).toBe(false)
  expect(isIn(old, podOf('new', 'web-b'))).toBe(true)
  expect(isIn(old, podOf('new', 'web-a'))).toBe(true)
  // Control: the pod itself, a terminating pod, one at another address, one of another Deployment, and one without a known Deployment.
  expect(isIn(old, old)).toBe(false)
  expect(isIn(old, podOf('new', 'web-b', '10.0.0.1', true))).toBe(false)
  expect(isIn(old, podOf('new', 'web-b', '10.0.0.2'))).toBe(false)
  // A pod at another address counts where an operator has pointed the entry at it.
  expect(isIn(old, podOf('pointed at', 'web-a', '10.0.0.2'))).toBe(true)
  expect(isIn(podOf('another', 'web-a'), podOf('pointed at', 'web-a', '10.0.0.2'))).toBe(false)
  expect(isIn(old, podOf('new', 'api-b'))).toBe(false)
  expect(isIn(podOf('old', 'lone-a'), podOf('new', 'lone-b'))).toBe(false)
})

test('the pods of a StatefulSet stand for themselves alone, at whatever address', () => {
  const workload = { workload: { kind: KINDS.kindOf(STATEFUL_SET), ref: { ...STATEFUL_SET, name: 'web' } } }
  const isIn = heirsIn({
    kinds: KINDS,
    workloadOf: (() => workload) as unknown as World['workloadOf'],
    drainedFor: () => gone.uid,
  })
  expect(isIn(gone, { ...podAt('new', '10.0.0.1'), name: 'web-1' })).toBe(false)
})

test('it is drained itself where its own open record has all that is left of the one before', () => {
  expect(isDrained([EDGE], recordOf([EDGE]))).toBe(true)
  expect(isDrained([EDGE, { ...INNER, untouched: true }], recordOf([EDGE]))).toBe(true)
  expect(isDrained([EDGE, INNER], recordOf([EDGE]))).toBe(false)
  // An operator had the other entry out by then.
  expect(isDrained([EDGE, INNER], recordOf([EDGE, { ...INNER, untouched: true }]))).toBe(true)
  expect(isDrained([EDGE], recordOf([EDGE], 'closed'))).toBe(false)
})

test('not where it was out already when its record was made, nor where nothing is left', () => {
  expect(isDrained([EDGE], recordOf([{ ...EDGE, untouched: true }]))).toBe(false)
  expect(isDrained([{ ...EDGE, untouched: true }], recordOf([EDGE]))).toBe(false)
  expect(isDrained([], recordOf([EDGE]))).toBe(false)
})
