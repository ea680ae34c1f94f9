import { and, not, stateIn } from 'xstate'
import { failing } from '../failing.ts'
import { drainInput, uidInput } from '../inputs.ts'
import { inspecting } from '../inspecting.ts'
import { podSetup } from '../setup.ts'
import { BUG } from '../writing.ts'

/**
 * The pod was seen to get requests again. It is drained again without another look, since a slow load balancer would delay the drain while
 * the pod restarts in rotation.
 */
const DRAINED_AGAIN = { reloaded: 'redraining' } as const

/** Waits for proof that the patched containers were started from the patched spec. */
export const restarting = podSetup.createStateConfig({
  entry: 'beginAgain',
  initial: 'watching',
  after: {
    restartDeadline: [
      // The images are not the cause, and a rollback would be patched in while the pod may get requests.
      {
        guard: 'isProven',
        target: '#pod.failed',
        actions: { type: 'overrule', params: { outcome: 'failed', reason: 'notOut', deadline: 'restart' } },
      },
      // The wait for the rest of the quiet time goes on: no deadline is shorter than the proof that it waits for.
      { guard: and(['awaitsQuiet', stateIn({ restarting: 'watching' })]), actions: 'expireRestart' },
      { target: '.overdue' },
    ],
  },
  on: { observed: [{ guard: 'hasMovedContainers', actions: ['observe', 'tellMoved'] }, { actions: 'observe' }] },
  states: {
    // A changed container enters this state anew, and the quiet time counts from then.
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
        // A kubelet without generations reports a start by an Event. Events are best effort, so the quiet time goes on meanwhile.
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
    // Confirms after a resume, or a drain, that the pod is out.
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
      // The pod may fail before it has settled. The note makes a rollback wait for the requests that still come.
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
