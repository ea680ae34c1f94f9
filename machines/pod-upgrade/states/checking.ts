import { not } from 'xstate'
import { enrollInput, requestInput } from '../inputs.ts'
import { podSetup } from '../setup.ts'
import { BUG } from '../writing.ts'

const GOING = {
  guard: 'isEnding',
  target: '#pod.done',
  actions: { type: 'end', params: { outcome: 'settled', reason: 'goneBefore' } },
} as const

const NOT_STARTED = [
  {
    guard: 'isInterrupted',
    target: '#pod.done',
    actions: { type: 'end', params: { outcome: 'unchanged', reason: 'notStarted' } },
  },
  GOING,
  // Another writer has patched the wanted images meanwhile.
  {
    guard: not('differsFromRequest'),
    target: '#pod.done',
    actions: { type: 'end', params: { outcome: 'skipped', reason: 'skipped' } },
  },
] as const

/**
 * Checks the pod again before the drain: its entries in the load balancers, and a dry run of its patch. Nothing is changed yet. A slow load
 * balancer can make the window's decision outdated, so the pod waits again where another pod goes down meanwhile.
 */
export const checking = podSetup.createStateConfig({
  entry: 'begin',
  initial: 'inspecting',
  after: { drainDeadline: { actions: 'expireDrain' } },
  on: { wait: '#pod.queued' },
  states: {
    inspecting: {
      invoke: {
        id: 'snapshot',
        src: 'snapshot',
        input: requestInput,
        onDone: { target: 'inspected', actions: 'takeSnapshot' },
        onError: BUG,
      },
    },
    inspected: {
      always: [
        // The entries may be gone with the pod.
        GOING,
        { guard: 'isAbsent', target: '#pod.failed', actions: { type: 'end', params: { outcome: 'failed', reason: 'absent' } } },
        { guard: 'isUnknown', target: 'waiting' },
        { guard: 'isRehearsed', target: 'enrolling' },
        { target: 'rehearsing' },
      ],
    },
    rehearsing: {
      invoke: {
        id: 'rehearse',
        src: 'rehearse',
        input: requestInput,
        onDone: { target: 'rehearsed', actions: 'takeAnswer' },
        onError: BUG,
      },
    },
    rehearsed: {
      always: [
        { guard: 'isAccepted', target: 'enrolling' },
        {
          guard: 'isRefused',
          target: '#pod.failed',
          actions: { type: 'end', params: { outcome: 'failed', reason: 'rehearsalRefused' } },
        },
        { target: 'waiting' },
      ],
    },
    // The ledger must have the current prior state before the first effect.
    enrolling: {
      invoke: {
        id: 'enroll',
        src: 'enroll',
        input: enrollInput,
        onDone: { target: 'enrolled', actions: 'takeAnswer' },
        onError: BUG,
      },
    },
    enrolled: { always: [{ guard: 'isUnknown', target: 'waiting' }, ...NOT_STARTED, { target: '#pod.draining' }] },
    waiting: {
      always: [
        ...NOT_STARTED,
        {
          guard: 'isExpired',
          target: '#pod.failed',
          actions: { type: 'end', params: { outcome: 'failed', reason: 'notChecked', deadline: 'drain' } },
        },
      ],
      after: { retry: 'inspecting' },
    },
  },
})
