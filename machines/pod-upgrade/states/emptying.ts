import { and } from 'xstate'
import { inspectAllInput } from '../inputs.ts'
import { inspecting } from '../inspecting.ts'
import { redraining } from '../redraining.ts'
import { podSetup } from '../setup.ts'

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

const redrain = redraining()

/** Every load balancer says it is out; waits until it has settled, and then until nothing is in flight, where that can be known. */
export const emptying = podSetup.createStateConfig({
  entry: ['begin', 'countAnew', 'forgetReturn'],
  initial: 'settling',
  after: { drainDeadline: { actions: 'expireDrain' } },
  states: {
    // Until then new requests may still arrive: what is in flight before says nothing about the patch. Nothing is patched once it is
    // interrupted, so it is put back at once.
    settling: { always: { guard: 'isInterrupted', target: 'reading' }, after: { settle: 'reading' }, on: DRAINED_AGAIN },
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
    // Within the same deadline.
    returned: { after: { retry: 'backIn' }, on: DRAINED_AGAIN },
    backIn: {
      always: [
        // An earlier owner was to put it back, and it is. Found by simulation (seed 44620325): drained anew by that one's record.
        { guard: 'isRestoreStored', target: '#pod.deriving', actions: 'reopen' },
        { target: 'redraining' },
      ],
    },
    ...redrain,
    looking: { ...redrain.looking, on: DRAINED_AGAIN },
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
