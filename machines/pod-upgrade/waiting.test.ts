import { expect, test } from 'vitest'
import { testPod } from '../../src/pods/testing/raw-pod.ts'
import type { JournalTarget } from '../../src/pods/glossary.ts'
import type { Reason } from '../../src/reasons/reason.ts'
import type { PodContext } from './context.ts'
import { reasons } from './reasons.ts'
import { OUT, recorded, said, UNREAD } from './testing/recorded.ts'
import { TARGET } from './testing/world.ts'
import { waitingFor } from './waiting.ts'

const gone = { pod: testPod({ ip: '10.0.0.1' }), heir: null, traffic: OUT } as PodContext

test('who waits for what comes in the place of a pod says where, or why that is not known', () => {
  expect(waitingFor('settling', gone)).toEqual({ code: 'awaits-replacement', address: '10.0.0.1' })
  expect(waitingFor('settling', { ...gone, address: '10.0.0.9' })).toEqual({ code: 'awaits-replacement', address: '10.0.0.9' })
  expect(waitingFor('settling', { ...gone, traffic: UNREAD })).toEqual(UNREAD.detail)
})

test('an entry that could not be read back in time is left to a person with the reason', () => {
  const doubt = { code: 'effect-in-doubt', entries: [], effect: 'drain' }
  expect(reasons.inDoubt({ ...gone, traffic: UNREAD })).toEqual({ ...doubt, because: UNREAD.detail })
  expect(reasons.inDoubt({ ...gone, traffic: UNREAD, trouble: said('refused') })).toEqual({ ...doubt, because: said('refused') })
  expect(reasons.inDoubt(gone)).toEqual(doubt)
})

test('what a person has said to be in is not in doubt', () => {
  const inner = { ...TARGET, loadBalancer: 'inner' }
  const doubted = (...targets: JournalTarget[]): string[] => {
    const { journal: record } = recorded('restore', { targets })
    return reasons.inDoubt({ ...gone, record }).entries.map(({ loadBalancer }) => loadBalancer)
  }
  expect(doubted({ ...TARGET, said: 'in' }, inner)).toEqual(['inner'])
  expect(doubted(TARGET, inner), 'control').toEqual(['edge', 'inner'])
})

const here = { pod: testPod({ name: 'web-0', ip: '10.0.0.1', ready: false }) } as PodContext
const deletion = { dueAt: '2026-01-01T00:01:00Z', finalizers: ['example.org/backup'] }

test.each<[state: string, PodContext, Reason | undefined]>([
  ['claiming', here, { code: 'takes-over-record' }],
  ['claiming', { ...here, trouble: said('refused') }, { code: 'tries-again', because: said('refused') }],
  ['emptying', here, { code: 'settling' }],
  ['emptying', { ...here, traffic: { ...OUT, inFlight: null } }, { code: 'settling' }],
  ['emptying', { ...here, traffic: { ...OUT, inFlight: 3 } }, { code: 'in-flight', requests: 3 }],
  ['emptying', { ...here, traffic: { ...OUT, inFlight: null, emptying: true } }, OUT.detail],
  ['patching', { ...here, traffic: { ...OUT, inFlight: 3 } }, { code: 'in-flight', requests: 3 }],
  ['patching', { ...here, traffic: { ...OUT, inFlight: 3 }, passedOver: true }, undefined],
  ['readmitting', here, { code: 'not-ready-to-be-put-back' }],
  ['readmitting', { ...here, pod: testPod(), lateCall: true }, { code: 'late-call' }],
  ['closing', { ...here, lateCall: true }, { code: 'late-call' }],
  ['settling', { ...here, heir: null, pod: { ...here.pod, deletion } }, { code: 'awaits-end-of-pod', pod: 'web-0', ...deletion }],
])('%s: what it waits for', (state, context, reason) => {
  expect(waitingFor(state, context)).toEqual(reason)
})

test('that a pod is upgraded says where it is', () => {
  const upgraded = (...targets: JournalTarget[]): unknown =>
    reasons.upgraded({ ...here, record: recorded('closed', { targets }).journal })
  expect(upgraded()).toEqual({ code: 'upgraded', rotation: 'none' })
  expect(upgraded(TARGET)).toEqual({ code: 'upgraded', rotation: 'in' })
  expect(upgraded({ ...TARGET, untouched: true })).toEqual({ code: 'upgraded', rotation: 'operator' })
})

test('a pod of which nothing is asked, or that has it already, is skipped with that reason', () => {
  expect(reasons.skipped({ ...here, wanted: [] })).toEqual({ code: 'nothing-asked' })
  const wanted = [{ container: 'app', image: 'app:v2' }]
  expect(reasons.skipped({ ...here, wanted })).toEqual({ code: 'runs-wanted-images', ready: false })
})
