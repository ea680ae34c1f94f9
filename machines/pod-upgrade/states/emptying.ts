import { and } from 'xstate'
import { inspectAllInput } from '../inputs.ts'
import { inspecting } from '../inspecting.ts'
import { redraining } from '../redraining.ts'
import { podSetup } from '../setup.ts'

/**
 * A pod that an earlier run patched may be restarting already, so a reload drains it again at once. The deadline ends reloads that come
 * faster than the pod can settle.
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

/** Every load balancer reads as out. Waits until the pod has settled, and then until no request is in flight, where that is known. */
export const emptying = podSetup.createStateConfig({
  entry: ['begin', 'countAnew', 'forgetReturn'],
  initial: 'settling',
  after: { drainDeadline: { actions: 'expireDrain' } },
  states: {
    // New requests may arrive until the pod has settled, so earlier counts of requests in flight prove nothing. An interrupted run patches
    // nothing, and puts the pod back at once.
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
    // The second drain has the same deadline.
    returned: { after: { retry: 'backIn' }, on: DRAINED_AGAIN },
    backIn: {
      always: [
        // An earlier owner was to restore the pod, and the pod is back in. It must not be drained by the record of that owner.
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
