import { and, not, stateIn } from 'xstate'
import { failing } from '../failing.ts'
import { drainInput, uidInput } from '../inputs.ts'
import { inspecting } from '../inspecting.ts'
import { podSetup } from '../setup.ts'
import { BUG } from '../writing.ts'

/**
 * It has been seen to get requests again. Not asked once more: found by simulation, another load balancer took its time to
 * answer, and the pod was restarted in rotation.
 */
const DRAINED_AGAIN = { reloaded: 'redraining' } as const

/** Waits for proof that the patched containers were started from the patched spec. */
export const restarting = podSetup.createStateConfig({
  entry: 'beginAgain',
  initial: 'watching',
  after: {
    restartDeadline: [
      // Its images are not to blame, and a rollback would be patched in where it may get requests.
      {
        guard: 'isProven',
        target: '#pod.failed',
        actions: { type: 'overrule', params: { outcome: 'failed', reason: 'notOut', deadline: 'restart' } },
      },
      // No deadline is shorter than the proof that it waits for.
      { guard: and(['awaitsQuiet', stateIn({ restarting: 'watching' })]), actions: 'expireRestart' },
      { target: '.overdue' },
    ],
  },
  on: { observed: [{ guard: 'hasMovedContainers', actions: ['observe', 'tellMoved'] }, { actions: 'observe' }] },
  states: {
    // Entered anew whenever a container changed: the quiet time is counted from there.
    watching: {
      always: [
        { guard: 'isVanished', target: '#pod.settling' },
        { guard: 'isProven', target: '#pod.warming' },
        { guard: 'isRollbackStored', target: '#pod.deriving', actions: 'reopen' },
        { guard: 'isHopeless', target: 'hopeless' },
        { guard: and(['isRestartExpired', not('awaitsQuiet')]), target: 'overdue' },
      ],
      on: {
        moved: [
          { guard: 'isRestartExpired', target: 'overdue' },
          { target: 'watching', reenter: true },
        ],
        ...DRAINED_AGAIN,
      },
      after: { quiet: { target: 'watching', reenter: true, actions: 'acceptQuiet' } },
      initial: 'resting',
      states: {
        resting: { always: { guard: 'awaitsEvents', target: 'asking' } },
        // A kubelet that reports no generation tells of a start by an Event: best effort, so the quiet time goes on beside that.
        asking: {
          invoke: {
            id: 'pulls',
            src: 'pulls',
            input: uidInput,
            onDone: { target: 'pausing', actions: 'takePulls' },
            onError: BUG,
          },
        },
        pausing: { after: { retry: 'resting' } },
      },
    },
    overdue: { always: failing('notRestarted', 'restart') },
    hopeless: { always: failing('hopeless') },
    // After a resume, and a drain: is it out?
    confirming: { ...inspecting(), on: DRAINED_AGAIN },
    judging: {
      always: [
        { guard: 'isOut', target: 'watching' },
        { guard: 'isVanished', target: '#pod.settling' },
        { guard: 'isRestartExpired', target: 'overdue' },
        { guard: 'isUnread', target: 'waiting' },
        { target: 'redraining' },
      ],
    },
    waiting: { after: { retry: 'confirming' }, on: DRAINED_AGAIN },
    redraining: {
      tags: 'busy',
      // It may fail before that has settled. Found by simulation (seed 179343): the requests that still came met the rollback.
      entry: 'noteReturn',
      invoke: {
        id: 'drain',
        src: 'effect',
        input: drainInput,
        onDone: { target: 'waiting', actions: 'takeAnswer' },
        onError: BUG,
      },
    },
  },
})
