import { expect, test } from 'vitest'
import { podView } from '../pods/view.ts'
import { said } from './testing/said.ts'
import type { Reason } from '../reasons/reason.ts'
import { createAccount, restartsOf, withLeaseEpochs } from './account.ts'
import type { PodState, RunEvent, RunEventBody } from './events.ts'

const ZERO = Date.parse('2026-03-01T12:00:00Z')

function event(atMs: number, body: RunEventBody, wallAtMs = ZERO + atMs): RunEvent {
  return { ...body, atMs, wallAt: new Date(wallAtMs).toISOString() }
}

function state(to: PodState, waiting?: Reason): RunEventBody {
  return { type: 'podState', uid: 'u1', pod: 'web-1', from: null, to, ...(waiting && { waiting }) }
}

const drain: RunEventBody = {
  type: 'effect',
  uid: 'u1',
  pod: 'web-1',
  loadBalancer: 'edge',
  target: 'web/web-1',
  effect: 'drain',
  operation: 'op',
  outcome: 'applied',
  batch: 2,
  durationMs: 15,
}

test('phases follow each other, calls have their time, and the end is what the pod ended with', () => {
  const account = createAccount()
  for (const one of [
    event(0, { type: 'started', run: 'r1', epoch: 7, resumed: true, pods: [] }),
    event(10, state('checking')),
    event(30, state('draining')),
    event(45, drain),
    event(50, state('emptying', { code: 'settling' })),
    event(60, { type: 'podDetail', uid: 'u1', pod: 'web-1', state: 'emptying', waiting: { code: 'in-flight', requests: 3 } }),
    event(90, state('failed')),
    event(90, {
      type: 'podFinished',
      result: {
        uid: 'u1',
        pod: 'web-1',
        outcome: 'failed',
        reason: said('why'),
        deadline: 'drain',
        traffic: 'asBefore',
        record: 'closed',
        advice: [],
        phases: {},
      },
    }),
  ])
    account.note(one)
  expect(account.pods(500).get('u1')).toEqual({
    epoch: 7,
    startedAtMs: ZERO + 10,
    phases: [
      { state: 'checking', ms: 20 },
      { state: 'draining', ms: 20 },
      { state: 'emptying', ms: 40, waiting: { code: 'in-flight', requests: 3 } },
    ],
    effects: [
      {
        afterMs: 35,
        loadBalancer: 'edge',
        target: 'web/web-1',
        effect: 'drain',
        operation: 'op',
        outcome: 'applied',
        batch: 2,
        durationMs: 15,
      },
    ],
    restarts: [],
    outcome: 'failed',
    reason: said('why'),
    deadline: 'drain',
    out: false,
  })
})

test('what a pod is in when the process ends lasts until then, and asking changes nothing', () => {
  const account = createAccount()
  account.note(event(10, state('emptying')))
  expect(account.pods(40).get('u1')?.phases).toEqual([{ state: 'emptying', ms: 30 }])
  expect(account.pods(60).get('u1')?.phases).toEqual([{ state: 'emptying', ms: 50 }])
})

test('a wall clock that is set meanwhile disturbs nothing', () => {
  const account = createAccount()
  account.note(event(0, { type: 'started', run: 'r1', epoch: 1, resumed: false, pods: [] }))
  account.note(event(10, state('checking'), ZERO - 3_600_000))
  account.note(event(30, state('draining'), ZERO + 3_600_000))
  expect(account.pods(40).get('u1')).toMatchObject({
    startedAtMs: ZERO + 10,
    phases: [
      { state: 'checking', ms: 20 },
      { state: 'draining', ms: 10 },
    ],
  })
})

test('in the ledger each pod has the epoch of its own Lease, beside that of its process', () => {
  const account = createAccount()
  account.note(event(0, { type: 'started', run: 'r1', epoch: 7, resumed: true, pods: [] }))
  for (const uid of ['u1', 'u2']) account.note(event(10, { ...state('checking'), uid } as RunEventBody))
  const told = withLeaseEpochs(account, (uid) => (uid === 'u1' ? 3 : 7)).pods(20)
  expect(told.get('u1')).toMatchObject({ epoch: 3, processEpoch: 7, phases: [{ state: 'checking', ms: 10 }] })
  expect(told.get('u2')).toMatchObject({ epoch: 7 })
  expect(told.get('u2')).not.toHaveProperty('processEpoch')
  expect(account.pods(20).get('u1'), 'control: as it was told').toMatchObject({ epoch: 7 })
})

test('each patched container stands before and after, and no other', () => {
  const pod = podView({
    metadata: { name: 'web-1', namespace: 'shop', uid: 'u1', resourceVersion: '1' },
    spec: {
      containers: [
        { name: 'app', image: 'app:v2' },
        { name: 'other', image: 'other:v1' },
      ],
    },
    status: {
      containerStatuses: [
        {
          name: 'app',
          containerID: 'containerd://bbbbbbbbbbbbbbbb',
          imageID: 'sha256:2222222222222222',
          ready: true,
          restartCount: 0,
        },
      ],
    },
  })
  const baseline = [{ name: 'app', image: 'app:v1', containerId: 'containerd://aaaaaaaaaaaaaaaa' }]
  expect(restartsOf(baseline, pod)).toEqual([
    {
      container: 'app',
      image: { from: 'app:v1', to: 'app:v2' },
      containerId: { from: 'aaaaaaaaaaaa', to: 'bbbbbbbbbbbb' },
      imageId: { to: '222222222222' },
    },
  ])
})
