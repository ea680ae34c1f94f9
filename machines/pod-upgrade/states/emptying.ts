import { and } from 'xstate'
import { targetsInput } from '../inputs.ts'
import { podSetup } from '../setup.ts'
import { BUG } from '../writing.ts'

/** Every load balancer says it is out; waits until nothing is in flight, where that can be known, and has settled. */
export const emptying = podSetup.createStateConfig({
  entry: 'begin',
  initial: 'reading',
  after: { drainDeadline: { actions: 'expireDrain' } },
  states: {
    reading: {
      invoke: {
        id: 'inspect',
        src: 'inspect',
        input: targetsInput,
        onDone: { target: 'judging', actions: 'takeReading' },
        onError: BUG,
      },
    },
    judging: {
      always: [
        { guard: 'isVanished', target: '#pod.settling' },
        {
          guard: 'isInterrupted',
          target: '#pod.readmitting',
          actions: { type: 'end', params: { outcome: 'unchanged', reason: 'interrupted' } },
        },
        { guard: 'isEmpty', target: 'settling' },
        { guard: 'isExpired', target: 'overdue' },
        { guard: 'isUnread', target: 'waiting' },
        { guard: 'isOut', target: 'waiting' },
        // Somebody, or a reload, has put it back: drained again, as the same operation.
        { target: '#pod.draining.calling' },
      ],
    },
    waiting: { after: { poll: 'reading' } },
    overdue: {
      always: [
        { guard: and(['isOut', 'mayProceed']), target: 'settling' },
        {
          target: '#pod.readmitting',
          actions: { type: 'end', params: { outcome: 'failed', reason: 'notEmpty', deadline: 'drain' } },
        },
      ],
    },
    settling: { after: { settle: '#pod.patching' } },
  },
})
