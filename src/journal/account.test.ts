import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { said } from '../cli/testing/samples.ts'
import type { Advice } from '../reasons/advice.ts'
import type { Reason } from '../reasons/reason.ts'
import type { AccountContext, PodAccount } from './account.ts'
import { readPodAccount, readProcessAccount, shortId, writePodAccount, writeProcessAccount } from './account.ts'

const context: AccountContext = {
  targets: [{ loadBalancer: 'edge', target: 'web/web-1@10.244.0.2:8080' }],
  before: new Map([['app', 'registry.example/app:v1']]),
  after: new Map([['app', 'registry.example/app:v2']]),
}

const words = fc.string({ maxLength: 40 })
const reasons: fc.Arbitrary<Reason> = fc.oneof(
  words.map(said),
  words.map((one): Reason => ({ code: 'restart-not-proven', because: said(one) })),
  fc.constant<Reason>({ code: 'settling' }),
)
const entry = fc.record({ loadBalancer: words, target: words, prior: fc.jsonValue() })
const advice: fc.Arbitrary<Advice> = fc.oneof(
  fc.record({ code: fc.constant('stays-out' as const), entries: fc.array(entry, { maxLength: 1 }) }),
  fc.constant({ code: 'run-again' } as const),
)
const id = fc.option(fc.stringMatching(/^[0-9a-f]{12}$/), { nil: undefined })
const fromTo = fc.record({ from: id, to: id }).map(({ from, to }) => ({
  ...(from === undefined ? {} : { from }),
  ...(to === undefined ? {} : { to }),
}))
const accounts: fc.Arbitrary<PodAccount> = fc.record(
  {
    epoch: fc.nat(),
    processEpoch: fc.nat(),
    run: words,
    lost: fc.record({ doing: fc.nat(), telling: fc.nat() }),
    startedAtMs: fc.nat(),
    phases: fc.array(
      fc.record(
        {
          state: fc.constantFrom('queued', 'draining', 'emptying', 'warming', 'a state of later'),
          ms: fc.nat(),
          waiting: reasons,
        },
        { requiredKeys: ['state', 'ms'] },
      ),
      { maxLength: 8 },
    ),
    effects: fc.array(
      fc.record(
        {
          afterMs: fc.nat(),
          loadBalancer: fc.constantFrom('edge', 'inner'),
          target: fc.constantFrom('web/web-1@10.244.0.2:8080', 'web/other'),
          effect: fc.constantFrom('drain', 'restore'),
          operation: words,
          outcome: fc.constantFrom('applied', 'ambiguous', 'failed', 'confirmed', 'pending'),
          batch: fc.nat(),
          durationMs: fc.nat(),
          said: words,
          reason: reasons,
        },
        { requiredKeys: ['afterMs', 'loadBalancer', 'target', 'effect', 'operation', 'outcome', 'batch'] },
      ),
      { maxLength: 6 },
    ),
    restarts: fc.array(
      fc.record({
        container: fc.constantFrom('app', 'sidecar'),
        image: fc.record({
          from: fc.constantFrom('registry.example/app:v1', 'x:1'),
          to: fc.constantFrom('registry.example/app:v2', 'x:2'),
        }),
        containerId: fromTo,
        imageId: fromTo,
      }),
      { maxLength: 2 },
    ),
    outcome: fc.constantFrom('failed', 'unchanged'),
    reason: reasons,
    deadline: words,
    proof: words,
    out: fc.constant(true),
    advice: fc.array(advice, { minLength: 1, maxLength: 2 }),
  },
  { requiredKeys: ['epoch', 'startedAtMs', 'phases', 'effects', 'restarts'] },
)

test('whatever a process tells of a pod, it is read as it was written', () => {
  fc.assert(
    fc.property(accounts, (account) => {
      const written: unknown = JSON.parse(JSON.stringify(writePodAccount(account, context)))
      expect(readPodAccount(written, context)).toEqual(account)
    }),
  )
})

test('of a pod that went the straight way only what it waited for while it emptied is kept', () => {
  const waiting = { code: 'in-flight', requests: 0 } as const
  const phases = [
    { state: 'emptying', ms: 1, waiting },
    { state: 'warming', ms: 2, waiting: said('container app is not ready') },
  ]
  const account: PodAccount = { epoch: 1, startedAtMs: 0, phases, effects: [], restarts: [], outcome: 'upgraded' }
  const readOf = (told: PodAccount) => readPodAccount(writePodAccount(told, context), context)
  for (const rotation of ['in', 'operator'] as const) {
    const reason = { code: 'upgraded', rotation } as const
    expect(readOf({ ...account, reason })?.reason).toEqual(reason)
  }
  expect(readOf(account)?.phases).toEqual([
    { state: 'emptying', ms: 1, waiting },
    { state: 'warming', ms: 2 },
  ])
})

test('a pod that went to and fro for a day stays small, and its time is all there', () => {
  const phases = Array.from({ length: 10_000 }, (_, index) => ({ state: index % 2 === 0 ? 'restoring' : 'verifying', ms: 10 }))
  const account: PodAccount = { epoch: 1, startedAtMs: 0, phases, effects: [], restarts: [], reason: said('x'.repeat(10_000)) }
  const written = writePodAccount(account, context)
  expect(JSON.stringify(written).length).toBeLessThan(1_500)
  const read = readPodAccount(written, context)
  expect(read?.phases.reduce((sum, { ms }) => sum + ms, 0)).toBe(100_000)
})

test('what a newer sluice has written, or nobody, is not guessed at', () => {
  expect(readPodAccount({ v: 2 }, context)).toBeUndefined()
  expect(readProcessAccount({ v: 2 })).toBeUndefined()
  fc.assert(
    fc.property(fc.anything(), (value) => {
      expect(readPodAccount(value, context)).toBeUndefined()
      expect(readProcessAccount(value)).toBeUndefined()
    }),
  )
})

test('the account of a process is read as it was written', () => {
  const account = {
    by: 'ci_1',
    epoch: 3,
    resumed: true,
    startedAt: '2026-01-01T00:00:00.000Z',
    endedAt: '2026-01-01T00:01:00.000Z',
    outcome: 'done',
    reason: said('all'),
    window: 2,
    guarantees: [{ loadBalancer: 'edge', adapter: 'haproxy', level: 'G1' }],
    warnings: [{ pod: 'web-1', reason: said('careful') }, { reason: said('and here') }],
  }
  expect(readProcessAccount(JSON.parse(JSON.stringify(writeProcessAccount(account))))).toEqual(account)
})

test.each([
  ['containerd://77135f95c0a1b2c3d4', '77135f95c0a1'],
  ['docker-pullable://app@sha256:4ceffbbb12345678', '4ceffbbb1234'],
  ['sha256:4ceffbbb12345678', '4ceffbbb1234'],
  ['abc', 'abc'],
])('the id %s is shown as %s', (whole, short) => {
  expect(shortId(whole)).toBe(short)
})
