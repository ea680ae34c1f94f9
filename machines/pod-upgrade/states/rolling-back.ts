import { and, not, or } from 'xstate'
import { fencing, IN_DOUBT, RETURNED } from '../fencing.ts'
import { inspectAllInput } from '../inputs.ts'
import { inspecting } from '../inspecting.ts'
import { podSetup } from '../setup.ts'

const LATE = {
  guard: 'isExpired',
  target: '#pod.failed',
  actions: { type: 'overrule', params: { outcome: 'failed', reason: 'notRolledBack', deadline: 'drain' } },
} as const

/** What an owner before this one has sent is taken up anew. */
const REWRITTEN = { guard: and(['isInDoubt', 'hasLanded', 'asksForOthers']), target: '#pod.rollingBack.rewritten' } as const

const FOUND = [{ guard: 'isRecorded', target: '#pod.rollingBack.patched' }, REWRITTEN] as const

const OVERDUE = {
  guard: 'isOverdue',
  target: '#pod.failed',
  actions: { type: 'overrule', params: { outcome: 'failed', reason: 'notRolledBack', deadline: 'drain' } },
} as const

const GIVEN_UP = [
  {
    guard: 'isRejectedForGood',
    target: '#pod.failed',
    actions: { type: 'overrule', params: { outcome: 'failed', reason: 'notRolledBack' } },
  },
] as const

/**
 * It failed after the patch: one guarded PATCH, as the images patch was, to the images that it had before. From there it
 * goes the way of every patched pod: proven, ready, and put back as it was.
 */
export const rollingBack = podSetup.createStateConfig({
  entry: 'begin',
  // Also before the first try. Found by reading: a load balancer had forgotten the drain, and had not taken it again by the end of
  // the restart deadline; the former images were patched in where requests arrived.
  initial: 'confirming',
  after: { drainDeadline: { actions: 'expireDrain' } },
  tags: 'busy',
  on: RETURNED,
  states: {
    ready: {
      always: [
        { guard: 'isVanished', target: '#pod.settling' },
        // Found by a reviewer: somebody had given it its former images back by hand, and its machine broke.
        { guard: not(or(['hasFormerImages', 'isRollingBack'])), target: 'rewritten' },
        { guard: 'hasLostRecord', target: 'fencing', actions: 'recordRollback' },
        { target: 'writing' },
      ],
    },
    ...fencing('rollingBack', 'recordRollback', { found: FOUND, late: OVERDUE, givenUp: GIVEN_UP }),
    // As in `patching`: a load balancer may have been reloaded since, which is drained again from outside. Found by simulation:
    // requests were still under way on what was.
    confirming: inspecting(inspectAllInput),
    judging: {
      always: [
        { guard: 'isVanished', target: '#pod.settling' },
        REWRITTEN,
        { guard: and(['isEmpty', not(or(['hasReturned', 'isReclaimed']))]), target: 'ready' },
        { guard: and(['isOut', 'isExpired', 'mayProceed', not('isReclaimed')]), target: 'ready' },
        // Whatever it gets until it can be read, nobody sees: it settles anew.
        { guard: and(['isUnread', not(or(['isExpired', 'isReclaimed']))]), target: 'waiting', actions: 'noteReturn' },
        IN_DOUBT,
        // Found by simulation: a ready pod that an operator had put back was patched under its requests.
        {
          guard: 'isReclaimed',
          target: '#pod.failed',
          actions: { type: 'overrule', params: { outcome: 'failed', reason: 'reclaimed' } },
        },
        {
          guard: and(['isOut', 'isExpired']),
          target: '#pod.failed',
          actions: { type: 'overrule', params: { outcome: 'failed', reason: 'notEmpty', deadline: 'drain' } },
        },
        LATE,
        { guard: and(['isOut', 'hasReturned']), target: 'settling' },
        { guard: 'isOut', target: 'waiting' },
        { target: 'returned' },
      ],
    },
    waiting: { after: { poll: 'confirming' } },
    // As in `emptying`: what is in flight before it has settled says nothing.
    returned: { after: { retry: 'looking' } },
    looking: inspecting(inspectAllInput, 'looked'),
    looked: {
      always: [
        { guard: 'isVanished', target: '#pod.settling' },
        LATE,
        { guard: 'isOut', target: 'settling' },
        { target: 'returned' },
      ],
    },
    settling: { entry: 'forgetReturn', after: { settle: 'confirming' } },
    patched: {
      entry: 'beginRestart',
      always: [{ guard: 'asksForOthers', target: 'rewritten' }, { target: '#pod.restarting' }],
    },
    rewritten: {
      always: {
        target: '#pod.failed',
        actions: { type: 'overrule', params: { outcome: 'failed', reason: 'rewritten' } },
      },
    },
  },
})
