import { and, or } from 'xstate'
import { drainInput, restoreInput } from './inputs.ts'
import { inspecting } from './inspecting.ts'
import { podSetup } from './setup.ts'
import { BUG } from './writing.ts'

/**
 * Resolves a drain or a restore: a call, and a read-back where the answer leaves a doubt. `judging` (of the state that uses this) decides
 * on the reading. A failed read-back is repeated, and never counts as "not done". The same operation is sent again only after a reading of
 * "not done".
 */
export function resolving(effect: 'drain' | 'restore', targets: { applied: string; refused: string }) {
  return {
    calling: podSetup.createStateConfig({
      invoke: {
        id: effect,
        src: 'effect',
        input: effect === 'drain' ? drainInput : restoreInput,
        onDone: { target: 'called', actions: 'takeAnswer' },
        onError: BUG,
      },
      ...(effect === 'drain' ? { tags: ['busy'], entry: 'forgetReturn', on: { reloaded: { actions: 'noteReturn' } } } : {}),
    }),
    called: podSetup.createStateConfig({
      always: [
        // "Done" may be wrong where an earlier call can still arrive, or where the pod got requests after one of the calls. A read-back
        // decides then, and the settle time counts from it.
        ...(effect === 'drain' ? [{ guard: and(['isApplied', or(['hasLateCall', 'hasReturned'])]), target: 'reading' }] : []),
        { guard: 'isApplied', target: targets.applied },
        { guard: 'isRefused', target: targets.refused },
        // The retry waits: a sent call may still arrive, and a busy load balancer would refuse again at once.
        { target: 'waiting' },
      ],
    }),
    reading: inspecting(),
    waiting: podSetup.createStateConfig({ after: { retry: 'reading' } }),
  }
}
