import { and, not } from 'xstate'
import { drainInput, inspectAllInput } from '../inputs.ts'
import { inspecting } from '../inspecting.ts'
import { podSetup } from '../setup.ts'
import { BUG } from '../writing.ts'

/**
 * It may be restarting already, where an earlier run has patched it to other images: not only looked at when it has settled.
 * Where this comes faster than it settles, it never is.
 */
const DRAINED_AGAIN = {
  reloaded: [
    {
      guard: 'isExpired',
      target: '#pod.readmitting',
      actions: { type: 'end', params: { outcome: 'failed', reason: 'drainNotConfirmed', deadline: 'drain' } },
    },
    { target: 'backIn' },
  ],
} as const

/** Every load balancer says it is out; waits until it has settled, and then until nothing is in flight, where that can be known. */
export const emptying = podSetup.createStateConfig({
  entry: ['begin', 'countAnew', 'forgetReturn'],
  initial: 'settling',
  after: { drainDeadline: { actions: 'expireDrain' } },
  states: {
    // Until then new requests may still arrive: what is in flight before says nothing about the patch.
    settling: { after: { settle: 'reading' }, on: DRAINED_AGAIN },
    reading: { ...inspecting(inspectAllInput), on: DRAINED_AGAIN },
    judging: {
      always: [
        { guard: 'isVanished', target: '#pod.settling' },
        {
          guard: 'isHidden',
          target: '#pod.needsOperator',
          actions: { type: 'overrule', params: { outcome: 'needsOperator', reason: 'inDoubt' } },
        },
        {
          guard: 'isInterrupted',
          target: '#pod.readmitting',
          actions: { type: 'end', params: { outcome: 'unchanged', reason: 'interrupted' } },
        },
        {
          guard: 'isReclaimed',
          target: '#pod.readmitting',
          actions: { type: 'end', params: { outcome: 'failed', reason: 'reclaimed' } },
        },
        { guard: 'isEmpty', target: '#pod.patching' },
        { guard: 'isExpired', target: 'overdue' },
        { guard: 'isUnread', target: 'waiting' },
        { guard: 'isOut', target: 'waiting' },
        { target: 'returned' },
      ],
    },
    waiting: { after: { poll: 'reading' }, on: DRAINED_AGAIN },
    // Somebody, or a reload, has put it back: drained again, as the same operation, within the same deadline. After a
    // pause, since a load balancer that says "done" and reads as before would be called without end.
    returned: { after: { retry: 'backIn' }, on: DRAINED_AGAIN },
    backIn: {
      always: [
        // An earlier owner was to put it back, and it is. Found by simulation (seed 44620325): drained anew by that one's record.
        { guard: 'isRestoreStored', target: '#pod.deriving', actions: 'reopen' },
        { target: 'redraining' },
      ],
    },
    redraining: {
      tags: 'busy',
      entry: 'forgetReturn',
      on: { reloaded: { actions: 'noteReturn' } },
      invoke: {
        id: 'drain',
        src: 'effect',
        input: drainInput,
        onDone: { target: 'redrained', actions: 'takeAnswer' },
        onError: BUG,
      },
    },
    redrained: {
      always: [
        {
          guard: 'isRefused',
          target: '#pod.readmitting',
          actions: { type: 'end', params: { outcome: 'failed', reason: 'drainRefused' } },
        },
        { guard: and(['isApplied', not('hasLateCall'), not('hasReturned')]), target: 'settling' },
        // As after the first call. Found by simulation (seed 43687994): it had no answer, and took the pod out two seconds later.
        { target: 'looking' },
      ],
    },
    looking: { ...inspecting(inspectAllInput, 'looked'), on: DRAINED_AGAIN },
    looked: {
      always: [
        { guard: 'isOut', target: 'settling' },
        { guard: and(['isUnread', not('isExpired')]), target: 'returned' },
        { target: 'judging' },
      ],
    },
    overdue: {
      always: [
        { guard: and(['isOut', 'mayProceed']), target: '#pod.patching', actions: 'passOver' },
        {
          target: '#pod.readmitting',
          actions: { type: 'end', params: { outcome: 'failed', reason: 'notEmpty', deadline: 'drain' } },
        },
      ],
    },
  },
})
