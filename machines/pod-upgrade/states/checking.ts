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
  // Somebody else has patched the same images meanwhile.
  {
    guard: not('differsFromRequest'),
    target: '#pod.done',
    actions: { type: 'end', params: { outcome: 'skipped', reason: 'skipped' } },
  },
] as const

/**
 * Still the pod that was planned? In the load balancers, and its patch accepted by a dry run? Nothing is touched yet: where
 * another pod goes down meanwhile, this one waits again. Found by simulation: a load balancer that does not answer can
 * hold it here for longer than the window's decision is good for.
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
        // Its entries may have gone with it.
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
    // The ledger has to know the prior state as it is now, before the first effect.
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
