import { restoreInput, targetsInput } from '../inputs.ts'
import { podSetup } from '../setup.ts'
import { BUG } from '../writing.ts'

/** Read back: in rotation with its prior weight and state. */
export const verifying = podSetup.createStateConfig({
  entry: 'begin',
  initial: 'comparing',
  after: { restoreDeadline: { actions: 'expireRestore' } },
  states: {
    comparing: {
      invoke: {
        id: 'compare',
        src: 'compare',
        input: targetsInput,
        onDone: { target: 'compared', actions: 'takeAnswer' },
        onError: BUG,
      },
    },
    compared: { always: [{ guard: 'isEqual', target: '#pod.closing' }, { target: 'differing' }] },
    differing: {
      always: [
        {
          guard: 'isTooDifferent',
          target: '#pod.needsOperator',
          actions: { type: 'overrule', params: { outcome: 'needsOperator', reason: 'restoredDifferently' } },
        },
        {
          guard: 'isExpired',
          target: '#pod.needsOperator',
          actions: { type: 'overrule', params: { outcome: 'needsOperator', reason: 'restoreNotConfirmed', deadline: 'restore' } },
        },
      ],
      // What is not known is read again. Found by simulation: each call puts off the moment from which a read-back counts.
      after: {
        retry: [
          { guard: 'isVanished', target: '#pod.settling' },
          { guard: 'isDifferent', target: 'restoring' },
          { target: 'comparing' },
        ],
      },
    },
    restoring: {
      invoke: {
        id: 'restore',
        src: 'effect',
        input: restoreInput,
        onDone: { target: 'restored', actions: 'takeAnswer' },
        onError: BUG,
      },
    },
    restored: {
      always: [
        {
          guard: 'isRefused',
          target: '#pod.needsOperator',
          actions: { type: 'overrule', params: { outcome: 'needsOperator', reason: 'restoreRefused' } },
        },
        { guard: 'isApplied', target: 'comparing' },
        // As in `settling`: what differs where no restore was done is no sign that it came back as something else.
        { target: 'doubting' },
      ],
    },
    doubting: { entry: 'forgetTries', after: { retry: 'comparing' } },
  },
})
