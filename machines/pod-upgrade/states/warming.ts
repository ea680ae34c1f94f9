import { and, not } from 'xstate'
import { failing } from '../failing.ts'
import { podSetup } from '../setup.ts'

/**
 * It may have crashed and be started again, Ready in both statuses, where the one between them was not seen: then it is
 * looked at anew, and for as long as the new container needs.
 */
const STARTED_ANEW = { observed: { guard: 'hasMovedContainers', target: 'waiting', actions: 'observe' } } as const

const OVERDUE = { guard: 'isExpired', target: 'overdue' } as const

/** Proven; waits until the new containers and the pod are ready for readyFor, and its endpoint is back. */
export const warming = podSetup.createStateConfig({
  entry: 'begin',
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
        { guard: 'isReady', target: 'steady' },
        // Somebody has changed its spec since.
        { guard: and([not('isProven'), not('asksForOthers')]), target: '#pod.restarting' },
        OVERDUE,
      ],
    },
    steady: {
      always: [{ guard: 'isNotReady', target: 'waiting' }, OVERDUE],
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
