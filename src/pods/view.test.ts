import { describe, expect, test } from 'vitest'
import { unprobedMs as unprobedMsOf } from './readiness.ts'
import type { Raw, RawContainer } from './testing/raw-pod.ts'
import { rawPod, runningA, testPod } from './testing/raw-pod.ts'
import { JOURNAL_KEY, podView } from './view.ts'

test('keeps spec and status of a container side by side, though the statuses are sorted by name', () => {
  const pod = testPod({
    generation: 3,
    observedGeneration: 2,
    ip: '10.0.0.7',
    otherIps: ['fd00::7'],
    node: 'node-1',
    containers: [
      {
        name: 'web',
        image: 'web:v1',
        status: { ...runningA, id: 'containerd://w' },
        ports: [{ name: 'http', containerPort: 80 }],
      },
      { name: 'app', image: 'app:v1', status: { ...runningA, id: 'containerd://p', lastId: 'containerd://o', restartCount: 2 } },
    ],
  })
  expect(pod).toMatchObject({
    generation: 3,
    observedGeneration: 2,
    ip: '10.0.0.7',
    otherIps: ['fd00::7'],
    node: 'node-1',
    ready: true,
  })
  expect(pod.containers).toEqual([
    {
      name: 'web',
      image: 'web:v1',
      statusIndex: 1,
      containerId: 'containerd://w',
      imageId: 'sha256:aaa',
      statusImage: 'web:v1',
      ready: true,
      running: true,
      startedAt: '2026-01-01T00:00:00Z',
      restartCount: 0,
      ports: [{ name: 'http', port: 80 }],
    },
    {
      name: 'app',
      image: 'app:v1',
      statusIndex: 0,
      containerId: 'containerd://p',
      imageId: 'sha256:aaa',
      statusImage: 'app:v1',
      ready: true,
      running: true,
      startedAt: '2026-01-01T00:00:00Z',
      restartCount: 2,
      lastTerminatedId: 'containerd://o',
      ports: [],
    },
  ])
})

test('a pod that is not scheduled yet has no statuses, no address, and no generation that was seen', () => {
  const pod = testPod({ phase: 'Pending', ready: false, generation: 1, containers: [{ name: 'app', image: 'app:v1' }] })
  expect(pod.containers[0]).toEqual({ name: 'app', image: 'app:v1', ready: false, running: false, restartCount: 0, ports: [] })
  expect(pod).toMatchObject({ observedGeneration: 0, ready: false, gracePeriodSeconds: 30 })
  expect(pod).not.toHaveProperty('ip')
  expect(pod).not.toHaveProperty('node')
})

test('a pod without status, labels, annotations and owner is one', () => {
  const raw = rawPod()
  delete raw.status
  expect(podView(raw)).toMatchObject({ ready: false, hasLabels: false, hasAnnotations: false })
  expect(podView(raw)).not.toHaveProperty('owner')
  expect(podView(raw)).not.toHaveProperty('firstCondition')
  expect(podView(raw).journal).toEqual({})
})

test('ErrImagePull of a container that never ran: an entry without an ID', () => {
  const status = { waiting: { reason: 'ErrImagePull', message: 'not found' } }
  const [container] = testPod({ containers: [{ name: 'app', image: 'bad:v1', status }] }).containers
  expect(container).toMatchObject({ statusIndex: 0, waitingReason: 'ErrImagePull', waitingMessage: 'not found', running: false })
  expect(container).not.toHaveProperty('containerId')
  expect(container).not.toHaveProperty('imageId')
})

test('a late node heartbeat: not Ready, and all containers are', () => {
  expect(testPod({ ready: false, containersReady: true })).toMatchObject({ ready: false, containersReady: true })
})

test.each([
  { phase: 'Running', finished: false },
  { phase: 'Pending', finished: false },
  { phase: 'Succeeded', finished: true },
  { phase: 'Failed', finished: true },
])('phase $phase: finished $finished', ({ phase, finished }) => {
  expect(testPod({ phase }).finished).toBe(finished)
})

describe('a container that was called ready before any probe ran', () => {
  const PROBE = { initialDelaySeconds: 5, periodSeconds: 4, failureThreshold: 2 }
  const startedAt = '2026-01-01T00:10:00Z'
  const before = '2026-01-01T00:09:59Z'

  function unprobedMs(since: string | undefined, change: Partial<RawContainer> = {}, status: RawContainer['status'] = {}) {
    const own = { ...runningA, startedAt, ...status }
    const pod = testPod({
      containers: [{ name: 'app', image: 'app:v1', readinessProbe: PROBE, ...change, status: own }],
      ...(since === undefined ? {} : { containersReadySince: since }),
    })
    return pod.containers[0]!.unprobedMs
  }

  test('is Ready since before it was started: the time until its probe would have failed, and a second', () => {
    expect(unprobedMs(before)).toBe((5 + 2 * 4 + 1) * 1000)
  })

  test('with the defaults of the API server', () => {
    expect(unprobedMs(before, { readinessProbe: {} })).toBe(31_000)
  })

  test.each([
    ['it has no probe: it is ready as soon as it runs', unprobedMs(before, { readinessProbe: undefined as never })],
    ['it got Ready in the same second', unprobedMs(startedAt)],
    ['it got Ready later', unprobedMs('2026-01-01T00:10:07Z')],
    ['it is not called ready', unprobedMs(before, {}, { ready: false })],
    ['it does not run', unprobedMs(before, {}, { running: false })],
    ['nobody says when it was started', unprobedMs(before, {}, { startedAt: null })],
  ])('not where %s', (_, ms) => {
    expect(ms).toBeUndefined()
  })

  test('not where nobody says since when it is Ready', () => {
    const raw = rawPod({
      containers: [{ name: 'app', image: 'app:v1', readinessProbe: PROBE, status: { ...runningA, startedAt } }],
    })
    expect(podView(raw).containers[0]).toHaveProperty('unprobedMs')
    const condition = raw.status.conditions.find(({ type }: Raw) => type === 'ContainersReady')
    delete condition.lastTransitionTime
    expect(podView(raw).containers[0]).not.toHaveProperty('unprobedMs')
    raw.status.conditions = []
    expect(podView(raw).containers[0]).not.toHaveProperty('unprobedMs')
  })

  test('counts only for the containers that are asked about, and the longest of these', () => {
    const container = (name: string, failureThreshold: number): RawContainer => ({
      name,
      image: 'app:v1',
      readinessProbe: { periodSeconds: 1, failureThreshold },
      status: { ...runningA, id: `containerd://${name}`, startedAt },
    })
    const pod = testPod({
      containers: [container('app', 2), container('web', 4), container('proxy', 9)],
      containersReadySince: before,
    })
    expect(unprobedMsOf(pod, ['app', 'web'])).toBe(5_000)
    expect(unprobedMsOf(pod, [])).toBe(0)
  })
})

test('deletion, journal, revision and the controlling owner', () => {
  const raw = rawPod({
    deleting: true,
    annotations: { [JOURNAL_KEY]: '{}', other: 'x' },
    labels: { 'controller-revision-hash': 'web-7f' },
    owner: { kind: 'StatefulSet', name: 'web', uid: 'uid-web' },
    graceSeconds: 5,
  })
  raw.metadata.ownerReferences.unshift({ apiVersion: 'v1', kind: 'Other', name: 'x', uid: 'y' })
  expect(podView(raw)).toMatchObject({
    deleting: true,
    journal: { annotation: '{}' },
    revision: 'web-7f',
    owner: { kind: 'StatefulSet', name: 'web', uid: 'uid-web', apiVersion: 'apps/v1' },
    gracePeriodSeconds: 5,
    hasLabels: true,
    hasAnnotations: true,
  })
})

test('a journal in a condition, wherever it stands', () => {
  const raw = rawPod({ journalCondition: '{}' })
  expect(podView(raw)).toMatchObject({ firstCondition: JOURNAL_KEY, journal: { condition: { index: 0, message: '{}' } } })
  raw.status.conditions.push(raw.status.conditions.shift())
  delete raw.status.conditions[3].message
  expect(podView(raw)).toMatchObject({ firstCondition: 'Initialized', journal: { condition: { index: 3 } } })
})

test('a grace period of 0 is one', () => {
  expect(testPod({ graceSeconds: 0 }).gracePeriodSeconds).toBe(0)
})

test.each([undefined, null, {}, { metadata: {} }, 'pod'])('%j is no pod', (raw) => {
  expect(() => podView(raw)).toThrow('expected')
})
