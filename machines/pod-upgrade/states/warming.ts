import { and, not } from 'xstate'
import { failing } from '../failing.ts'
import { podSetup } from '../setup.ts'

/**
 * It may have crashed and be started again, Ready in both statuses, where the one between them was not seen: then it is
 * looked at anew, and for as long as the new container needs.
 */
const STARTED_ANEW = { observed: { guard: 'hasMovedContainers', target: 'waiting', actions: 'observe' } } as const

/**
 * Proven; waits until the new containers and the pod are ready for readyFor, and its endpoint is back. One that is ready as its
 * deadline comes has its readyFor, without a break. Found by a reviewer: a pod had been ready for 6 s, of which an outage of the
 * API server had hidden 5, and was rolled back.
 */
export const warming = podSetup.createStateConfig({
  entry: 'beginAgain',
  initial: 'waiting',
  after: { readyDeadline: { actions: 'expireReady' } },
  always: [
    { guard: 'isVanished', target: 'settling' },
    { guard: 'isRollbackStored', target: 'deriving', actions: 'reopen' },
  ],
  on: { reloaded: 'restarting.redraining' },
  states: {
    waiting: {
      always: [
        { guard: and(['isReady', not('isExpired')]), target: 'steady' },
        // Somebody has changed its spec since.
        { guard: and([not('isProven'), not('asksForOthers')]), target: '#pod.restarting' },
        { guard: 'isExpired', target: 'overdue' },
      ],
    },
    steady: {
      always: { guard: 'isNotReady', target: 'waiting' },
      on: STARTED_ANEW,
      after: { readyFor: [{ guard: 'hasLateCall', target: 'waitingOut' }, { target: '#pod.restoring' }] },
    },
    // A drain that nobody answered may still be under way: while the pod is out it changes nothing, after the restore it
    // would take the pod out again. It has been ready for long enough. Found by reading: the deadline came meanwhile, and it was
    // rolled back.
    waitingOut: {
      always: { guard: 'isNotReady', target: 'waiting' },
      on: STARTED_ANEW,
      after: { lateArrival: { target: '#pod.restoring', actions: 'forgetLateCall' } },
    },
    overdue: { always: failing('notReady', 'ready') },
  },
})
