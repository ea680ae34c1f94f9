import { and, not, or } from 'xstate'
import { failing } from '../failing.ts'
import { fencing, IN_DOUBT, RETURNED } from '../fencing.ts'
import { inspectAllInput } from '../inputs.ts'
import { inspecting } from '../inspecting.ts'
import { redraining } from '../redraining.ts'
import { podSetup } from '../setup.ts'

/** An earlier owner's patch, or its own, has landed late: its baseline and generation are the ones to judge the restart by. */
const LANDED = {
  guard: and(['isPatchStored', not('asksForOthers')]),
  target: '#pod.deriving',
  actions: 'reopen',
} as const

/** What it was given is no more what it asks for. */
const REWRITTEN = { guard: and(['hasLanded', 'asksForOthers']), target: '#pod.patching.rewritten' } as const

const FOUND = [{ guard: 'isRecorded', target: '#pod.patching.patched' }, REWRITTEN, LANDED] as const

/** Not answered, or with 5xx, as by a webhook that is down. */
const LATE = {
  guard: 'isOverdue',
  target: '#pod.readmitting',
  actions: { type: 'end', params: { outcome: 'failed', reason: 'notPatched', deadline: 'drain' } },
} as const

const INTERRUPTED = {
  guard: 'isInterrupted',
  target: '#pod.readmitting',
  actions: { type: 'end', params: { outcome: 'unchanged', reason: 'interrupted' } },
} as const

const GIVEN_UP = [
  {
    guard: 'isRejectedForGood',
    target: '#pod.readmitting',
    actions: { type: 'end', params: { outcome: 'failed', reason: 'notPatched' } },
  },
  INTERRUPTED,
] as const

const redrain = redraining()

/** One guarded PATCH: the images and "patched". */
export const patching = podSetup.createStateConfig({
  entry: 'begin',
  initial: 'ready',
  after: { drainDeadline: { actions: 'expireDrain' } },
  tags: 'busy',
  on: RETURNED,
  states: {
    ready: {
      always: [
        { guard: 'isVanished', target: '#pod.settling' },
        LANDED,
        { guard: and(['isInDoubt', 'isInterrupted']), target: 'fencing' },
        INTERRUPTED,
        { guard: 'hasLostRecord', target: 'fencing', actions: 'recordPatched' },
        { target: 'writing' },
      ],
    },
    ...fencing('patching', 'recordPatched', { found: FOUND, late: LATE, givenUp: GIVEN_UP }),
    // A write that has to be made again may come long after the reading that it rests on: the process may have been stopped,
    // and a load balancer reloaded meanwhile.
    confirming: inspecting(inspectAllInput),
    judging: {
      always: [
        { guard: 'isVanished', target: '#pod.settling' },
        // It has landed late. Found by simulation (harsh seed 762): what somebody had patched in since was written over.
        REWRITTEN,
        { guard: and(['isEmpty', not(or(['hasReturned', 'isReclaimed']))]), target: 'ready' },
        // Found by reading: each refusal waited for the whole deadline anew, and none of them was counted.
        { guard: and(['isOut', 'isPassedOver', not(or(['hasReturned', 'isReclaimed']))]), target: 'ready' },
        { guard: and(['isUnread', not(or(['isExpired', 'isReclaimed']))]), target: 'pausing' },
        IN_DOUBT,
        {
          guard: 'isReclaimed',
          target: '#pod.readmitting',
          actions: { type: 'end', params: { outcome: 'failed', reason: 'reclaimed' } },
        },
        INTERRUPTED,
        { guard: and(['isOut', 'isExpired', 'mayProceed', not('hasReturned')]), target: 'ready', actions: 'passOver' },
        {
          guard: and(['isOut', 'isOverdue']),
          target: '#pod.readmitting',
          actions: { type: 'end', params: { outcome: 'failed', reason: 'notEmpty', deadline: 'drain' } },
        },
        {
          guard: and(['isUnread', 'isExpired']),
          target: '#pod.readmitting',
          actions: { type: 'end', params: { outcome: 'failed', reason: 'notPatched', deadline: 'drain' } },
        },
        // An earlier owner was to put it back, and it is, as in `emptying`.
        { guard: and(['isRestoreStored', or(['hasReturned', not('isOut')])]), target: '#pod.deriving', actions: 'reopen' },
        // Found by reading: it had got requests again a moment ago, nobody could count them, and the patch was sent.
        { guard: and(['isOut', 'hasReturned']), target: 'settling', actions: ['countLateTry', 'countAnew'] },
        { guard: 'isOut', target: 'settling', actions: 'countLateTry' },
        {
          guard: 'isExpired',
          target: '#pod.readmitting',
          actions: { type: 'end', params: { outcome: 'failed', reason: 'backMeanwhile', deadline: 'drain' } },
        },
        { target: 'returned', actions: 'countAnew' },
      ],
    },
    // A request has come all the same, or it was in meanwhile and has been drained again: as in `emptying`. Found by reading: it
    // went back there, and both deadlines and the count of tries began anew each time, without end where a webhook was down.
    settling: { entry: 'forgetReturn', after: { settle: 'waiting' } },
    waiting: { after: { poll: 'confirming' } },
    returned: { after: { retry: 'redraining' } },
    ...redrain,
    looking: { ...redrain.looking, on: { reloaded: 'returned' } },
    patched: {
      entry: 'beginRestart',
      always: [{ guard: 'asksForOthers', target: 'rewritten' }, { target: '#pod.restarting' }],
    },
    rewritten: { always: failing('rewritten') },
  },
})
