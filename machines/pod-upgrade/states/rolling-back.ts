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

/** A write of an earlier owner that has landed counts as if this owner had sent it. */
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
 * Rolls a failed pod back to its former images, by one guarded PATCH. The pod then goes the way of each patched pod: proven, ready, and
 * restored.
 */
export const rollingBack = podSetup.createStateConfig({
  entry: 'begin',
  // The traffic is read before the first try as well: a load balancer that forgot the drain may send requests to the pod.
  initial: 'confirming',
  after: { drainDeadline: { actions: 'expireDrain' } },
  tags: 'busy',
  on: RETURNED,
  states: {
    ready: {
      always: [
        { guard: 'isVanished', target: '#pod.settling' },
        // Another writer has given the pod its former images by hand. There is nothing to roll back to.
        { guard: not(or(['hasFormerImages', 'isRollingBack'])), target: 'rewritten' },
        { guard: 'hasLostRecord', target: 'fencing', actions: 'recordRollback' },
        { target: 'writing' },
      ],
    },
    ...fencing('rollingBack', 'recordRollback', { found: FOUND, late: OVERDUE, givenUp: GIVEN_UP }),
    // As in `patching`: a load balancer may have been reloaded since, and drained again from outside. Earlier requests may still be under
    // way.
    confirming: inspecting(inspectAllInput),
    judging: {
      always: [
        { guard: 'isVanished', target: '#pod.settling' },
        REWRITTEN,
        { guard: and(['isEmpty', not(or(['hasReturned', 'isReclaimed']))]), target: 'ready' },
        { guard: and(['isOut', 'isExpired', 'mayProceed', not('isReclaimed')]), target: 'ready' },
        // The pod settles anew after a time in which its traffic could not be read.
        { guard: and(['isUnread', not(or(['isExpired', 'isReclaimed']))]), target: 'waiting', actions: 'noteReturn' },
        IN_DOUBT,
        // A ready pod that an operator has put back must not be patched under its requests.
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
    // As in `emptying`: the count of requests in flight proves nothing before the pod has settled.
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
