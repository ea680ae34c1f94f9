import { and, not } from 'xstate'
import { fencing } from '../fencing.ts'
import { inspectAllInput } from '../inputs.ts'
import { inspecting } from '../inspecting.ts'
import { podSetup } from '../setup.ts'

const LATE = {
  guard: 'isExpired',
  target: '#pod.failed',
  actions: { type: 'overrule', params: { outcome: 'failed', reason: 'notRolledBack', deadline: 'drain' } },
} as const

const MEANWHILE = [
  {
    guard: 'isUsurped',
    target: '#pod.stopped',
    actions: { type: 'overrule', params: { outcome: 'conflict', reason: 'journalUsurped' } },
  },
  { guard: 'isRecorded', target: '#pod.rollingBack.patched' },
  { guard: 'isVanished', target: '#pod.settling' },
] as const

const GIVEN_UP = [
  {
    guard: 'isOverdue',
    target: '#pod.failed',
    actions: { type: 'overrule', params: { outcome: 'failed', reason: 'notRolledBack', deadline: 'drain' } },
  },
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
  on: { reloaded: { actions: 'noteReturn' } },
  states: {
    ready: {
      always: [{ guard: 'isVanished', target: '#pod.settling' }, { target: 'writing' }],
    },
    ...fencing('rollingBack', 'recordRollback', { meanwhile: MEANWHILE, givenUp: GIVEN_UP }),
    // As in `patching`: a load balancer may have been reloaded since, which is drained again from outside. Found by simulation:
    // requests were still under way on what was.
    confirming: inspecting(inspectAllInput),
    judging: {
      always: [
        { guard: 'isVanished', target: '#pod.settling' },
        // Found by simulation: a ready pod that an operator had put back was patched under its requests.
        {
          guard: 'isReclaimed',
          target: '#pod.failed',
          actions: { type: 'overrule', params: { outcome: 'failed', reason: 'reclaimed' } },
        },
        { guard: and(['isEmpty', not('hasReturned')]), target: 'ready' },
        { guard: and(['isOut', 'isExpired', 'mayProceed']), target: 'ready' },
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
    deciding: { always: [...MEANWHILE, ...GIVEN_UP, { target: 'pausing' }] },
    patched: {
      entry: 'beginRestart',
      always: [
        {
          guard: 'asksForOthers',
          target: '#pod.failed',
          actions: { type: 'overrule', params: { outcome: 'failed', reason: 'rewritten' } },
        },
        { target: '#pod.restarting' },
      ],
    },
  },
})
