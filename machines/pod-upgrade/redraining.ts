import { and, not } from 'xstate'
import { drainInput, inspectAllInput } from './inputs.ts'
import { inspecting } from './inspecting.ts'
import { podSetup } from './setup.ts'
import { BUG } from './writing.ts'

/**
 * Drains the pod again, as the same operation, after a person or a reload has put it back. The pod settles anew once it is out. The state
 * that uses this supplies `settling`, `judging` and `returned`. `returned` pauses, so that a load balancer which answers "done" and reads
 * as before is not called without end.
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
        // As after the first call: a late call, or requests since, make the answer doubtful, so the traffic is read.
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
