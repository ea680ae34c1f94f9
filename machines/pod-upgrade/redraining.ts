import { and, not } from 'xstate'
import { drainInput, inspectAllInput } from './inputs.ts'
import { inspecting } from './inspecting.ts'
import { podSetup } from './setup.ts'
import { BUG } from './writing.ts'

/**
 * Somebody, or a reload, has put it back: drained again, as the same operation. It settles anew once it is out; the states `settling`,
 * `returned` (a pause, since a load balancer that says "done" and reads as before would be called without end) and `judging` are given
 * by the state that uses this.
 */
export function redraining() {
  return {
    redraining: podSetup.createStateConfig({
      tags: 'busy',
      entry: 'forgetReturn',
      on: { reloaded: { actions: 'noteReturn' } },
      invoke: {
        id: 'drain',
        src: 'effect',
        input: drainInput,
        onDone: { target: 'redrained', actions: 'takeAnswer' },
        onError: BUG,
      },
    }),
    redrained: podSetup.createStateConfig({
      always: [
        {
          guard: 'isRefused',
          target: '#pod.readmitting',
          actions: { type: 'end', params: { outcome: 'failed', reason: 'drainRefused' } },
        },
        { guard: and(['isApplied', not('hasLateCall'), not('hasReturned')]), target: 'settling' },
        // As after the first call. Found by simulation (seed 43687994): it had no answer, and took the pod out two seconds later.
        { target: 'looking' },
      ],
    }),
    looking: inspecting(inspectAllInput, 'looked'),
    looked: podSetup.createStateConfig({
      always: [
        { guard: 'isOut', target: 'settling' },
        { guard: and(['isUnread', not('isExpired')]), target: 'returned' },
        { target: 'judging' },
      ],
    }),
  }
}
