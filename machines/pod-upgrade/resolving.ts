import { and, or } from 'xstate'
import { drainInput, restoreInput } from './inputs.ts'
import { inspecting } from './inspecting.ts'
import { podSetup } from './setup.ts'
import { BUG } from './writing.ts'

/**
 * A drain or restore that is resolved: called, and read back wherever the answer leaves a doubt; `judging` (given by
 * the state that uses this) goes by what was read. A failed read-back is read again, never taken for "not done"; the
 * same operation is sent anew only where it was seen not to be done.
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
        // "Done" may be wrong, and true only once an earlier call arrives. Found by simulation (seed 51029588): the settle time was
        // counted from the answer. Nor where it has got requests since that one of the calls was done.
        ...(effect === 'drain' ? [{ guard: and(['isApplied', or(['hasLateCall', 'hasReturned'])]), target: 'reading' }] : []),
        { guard: 'isApplied', target: targets.applied },
        { guard: 'isRefused', target: targets.refused },
        // Not at once: what was sent may still arrive, and what was refused for now would be refused again.
        { target: 'waiting' },
      ],
    }),
    reading: inspecting(),
    waiting: podSetup.createStateConfig({ after: { retry: 'reading' } }),
  }
}
