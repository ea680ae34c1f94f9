import { and, not } from 'xstate'
import { failing } from '../failing.ts'
import { podSetup } from '../setup.ts'

/** A container can crash and start again between two observations that are both Ready. The changed container starts the wait anew. */
const STARTED_ANEW = { observed: { guard: 'hasMovedContainers', target: 'waiting', actions: 'observe' } } as const

/**
 * The restart is proven. Waits until the new containers and the pod are ready for readyFor, and the endpoints are back. A pod that is ready
 * when the deadline fires may complete its readyFor, since an outage of the API server can hide the beginning of that time.
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
        // Another writer has changed the pod's spec since.
        { guard: and([not('isProven'), not('asksForOthers')]), target: '#pod.restarting' },
        { guard: 'isExpired', target: 'overdue' },
      ],
    },
    steady: {
      always: { guard: 'isNotReady', target: 'waiting' },
      on: STARTED_ANEW,
      after: { readyFor: [{ guard: 'hasLateCall', target: 'waitingOut' }, { target: '#pod.restoring' }] },
    },
    // A drain without an answer may still be under way. It changes nothing while the pod is out, and would take the pod out again after the
    // restore. The pod has completed its readyFor, so a deadline that fires now is no reason for a rollback.
    waitingOut: {
      always: { guard: 'isNotReady', target: 'waiting' },
      on: STARTED_ANEW,
      after: { lateArrival: { target: '#pod.restoring', actions: 'forgetLateCall' } },
    },
    overdue: { always: failing('notReady', 'ready') },
  },
})
