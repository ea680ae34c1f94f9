import { and, not } from 'xstate'
import { failing } from '../failing.ts'
import { fencing } from '../fencing.ts'
import { inspectAllInput } from '../inputs.ts'
import { inspecting } from '../inspecting.ts'
import { podSetup } from '../setup.ts'

/** An earlier owner's patch, or its own, has landed late: its baseline and generation are the ones to judge the restart by. */
const LANDED = {
  guard: and(['isPatchStored', not('asksForOthers')]),
  target: '#pod.deriving',
  actions: 'reopen',
} as const

const MEANWHILE = [
  {
    guard: 'isUsurped',
    target: '#pod.stopped',
    actions: { type: 'overrule', params: { outcome: 'conflict', reason: 'journalUsurped' } },
  },
  { guard: 'isRecorded', target: '#pod.patching.patched' },
  { guard: 'isVanished', target: '#pod.settling' },
  LANDED,
] as const

const GIVEN_UP = [
  // Not answered, or with 5xx, as by a webhook that is down.
  {
    guard: 'isOverdue',
    target: '#pod.readmitting',
    actions: { type: 'end', params: { outcome: 'failed', reason: 'notPatched', deadline: 'drain' } },
  },
  {
    guard: 'isRejectedForGood',
    target: '#pod.readmitting',
    actions: { type: 'end', params: { outcome: 'failed', reason: 'notPatched' } },
  },
] as const

const INTERRUPTED = {
  guard: 'isInterrupted',
  target: '#pod.readmitting',
  actions: { type: 'end', params: { outcome: 'unchanged', reason: 'interrupted' } },
} as const

/** One guarded PATCH: the images and "patched". */
export const patching = podSetup.createStateConfig({
  entry: 'begin',
  initial: 'ready',
  after: { drainDeadline: { actions: 'expireDrain' } },
  tags: 'busy',
  on: { reloaded: { actions: 'noteReturn' } },
  states: {
    ready: {
      always: [{ guard: 'isVanished', target: '#pod.settling' }, LANDED, INTERRUPTED, { target: 'writing' }],
    },
    ...fencing('patching', 'recordPatched', { meanwhile: MEANWHILE, givenUp: GIVEN_UP }),
    // A write that has to be made again may come long after the reading that it rests on: the process may have been stopped,
    // and a load balancer reloaded meanwhile.
    confirming: inspecting(inspectAllInput),
    judging: {
      always: [
        { guard: 'isVanished', target: '#pod.settling' },
        // It has landed late. Found by simulation (harsh seed 762): what somebody had patched in since was written over.
        { guard: and(['isPatchStored', 'isRecorded', 'asksForOthers']), target: 'rewritten' },
        {
          guard: 'isReclaimed',
          target: '#pod.readmitting',
          actions: { type: 'end', params: { outcome: 'failed', reason: 'reclaimed' } },
        },
        // Found by reading: it had got requests again a moment ago, nobody could count them, and the patch was sent.
        { guard: and(['isOut', 'hasReturned']), target: '#pod.emptying.backIn' },
        { guard: 'isEmpty', target: 'ready' },
        // Found by reading: each refusal waited for the whole deadline anew, and none of them was counted.
        { guard: and(['isOut', 'isPassedOver']), target: 'ready' },
        {
          guard: and(['isOut', 'isInterrupted']),
          target: '#pod.readmitting',
          actions: { type: 'end', params: { outcome: 'unchanged', reason: 'interrupted' } },
        },
        { guard: and(['isOut', 'isExpired', 'mayProceed']), target: 'ready', actions: 'passOver' },
        {
          guard: and(['isOut', 'isOverdue']),
          target: '#pod.readmitting',
          actions: { type: 'end', params: { outcome: 'failed', reason: 'notEmpty', deadline: 'drain' } },
        },
        { guard: 'isOut', target: 'settling', actions: 'countLateTry' },
        {
          guard: and(['isUnread', 'isExpired']),
          target: '#pod.readmitting',
          actions: { type: 'end', params: { outcome: 'failed', reason: 'notPatched', deadline: 'drain' } },
        },
        { guard: 'isUnread', target: 'pausing' },
        // Its images could not be written, and somebody has put it back: it is home already.
        {
          target: '#pod.readmitting',
          actions: { type: 'end', params: { outcome: 'failed', reason: 'backMeanwhile' } },
        },
      ],
    },
    // A request has come all the same, or it was in meanwhile and has been drained again: as in `emptying`. Found by reading: it
    // went back there, and both deadlines and the count of tries began anew each time, without end where a webhook was down.
    settling: { after: { settle: 'waiting' } },
    waiting: { after: { poll: 'confirming' } },
    deciding: { always: [...MEANWHILE, ...GIVEN_UP, INTERRUPTED, { target: 'pausing' }] },
    patched: {
      entry: 'beginRestart',
      always: [{ guard: 'asksForOthers', target: 'rewritten' }, { target: '#pod.restarting' }],
    },
    rewritten: { always: failing('rewritten') },
  },
})
