import { failing } from '../failing.ts'
import { drainInput } from '../inputs.ts'
import { inspecting } from '../inspecting.ts'
import { podSetup } from '../setup.ts'
import { BUG } from '../writing.ts'

/** Waits for proof that the patched containers were started from the patched spec. */
export const restarting = podSetup.createStateConfig({
  entry: 'begin',
  initial: 'watching',
  after: {
    restartDeadline: failing('notRestarted', 'restart'),
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
      ],
      on: { moved: { target: 'watching', reenter: true }, reloaded: 'confirming' },
      after: { quiet: { target: 'watching', reenter: true, actions: 'acceptQuiet' } },
    },
    hopeless: { always: failing('hopeless') },
    // After a resume, and when a load balancer has restarted or reloaded: is it still out?
    confirming: inspecting(),
    judging: {
      always: [
        { guard: 'isOut', target: 'watching' },
        { guard: 'isVanished', target: '#pod.settling' },
        { guard: 'isUnread', target: 'waiting' },
        { target: 'redraining' },
      ],
    },
    waiting: { after: { retry: 'confirming' } },
    redraining: {
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
