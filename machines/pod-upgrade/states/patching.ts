import { and, not, or } from 'xstate'
import { failing } from '../failing.ts'
import { fencing, IN_DOUBT, RETURNED } from '../fencing.ts'
import { inspectAllInput } from '../inputs.ts'
import { inspecting } from '../inspecting.ts'
import { redraining } from '../redraining.ts'
import { podSetup } from '../setup.ts'

/** A patch of an earlier owner, or of this one, has landed late. The restart is judged by the baseline and generation of that patch. */
const LANDED = {
  guard: and(['isPatchStored', not('asksForOthers')]),
  target: '#pod.deriving',
  actions: 'reopen',
} as const

/** The patch has landed, and the pod asks for other images by now. */
const REWRITTEN = { guard: and(['hasLanded', 'asksForOthers']), target: '#pod.patching.rewritten' } as const

const FOUND = [{ guard: 'isRecorded', target: '#pod.patching.patched' }, REWRITTEN, LANDED] as const

/** The patch has no answer, or a 5xx, as with a webhook that is down. */
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

/** Writes the images and the step `patched` in one guarded PATCH. */
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
    // A repeated write may come long after its reading: the process may have been stopped, and a load balancer reloaded meanwhile. So the
    // traffic is read again.
    confirming: inspecting(inspectAllInput),
    judging: {
      always: [
        { guard: 'isVanished', target: '#pod.settling' },
        // The patch has landed late, and another writer has set other images since. Those must not be patched over.
        REWRITTEN,
        { guard: and(['isEmpty', not(or(['hasReturned', 'isReclaimed']))]), target: 'ready' },
        // A refused write counts as a try, and does not wait for the whole drain deadline again.
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
        // An earlier owner was to restore the pod, and the pod is back in, as in `emptying`.
        { guard: and(['isRestoreStored', or(['hasReturned', not('isOut')])]), target: '#pod.deriving', actions: 'reopen' },
        // A pod that got requests again settles anew, even where no load balancer counts its requests.
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
    // A request has arrived, or the pod was in and has been drained again, as in `emptying`. The wait is here, and not in `emptying`: there
    // the deadline and the count of tries would begin anew each time.
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
