import { claimInput, fenceInput, storeInput, uidInput } from './inputs.ts'
import { podSetup } from './setup.ts'

type Recording =
  | 'recordClaim'
  | 'recordDrain'
  | 'recordPatched'
  | 'recordRollback'
  | 'recordRestore'
  | 'recordReadmission'
  | 'recordClosed'
  | 'fence'

/** The record at hand; a fence is of the one that is stored, and leaves that at hand alone. */
const INPUTS: Partial<Record<Recording, typeof storeInput>> = { recordClaim: claimInput, fence: fenceInput }

export const BUG = { target: '#pod.needsOperator', actions: 'endBug' } as const

/**
 * A guarded write to the pod. Whatever does not clearly succeed is read anew, and `deciding` (given by the state that
 * uses this) goes by what is stored then: never resent blindly, never taken for done. Before the next try, of which
 * `again` is the first state, there is a pause: where reads succeed and writes do not, nothing else would slow it down.
 * After the deadline some tries more: an API server that was away for longer than that may be back.
 */
export function writing(recording: Recording, stored: string, again = 'writing') {
  return {
    pausing: podSetup.createStateConfig({ after: { retry: again } }),
    writing: podSetup.createStateConfig({
      entry: recording === 'fence' ? [] : recording,
      invoke: {
        id: 'store',
        src: 'store',
        input: INPUTS[recording] ?? storeInput,
        onDone: { target: 'written', actions: 'takeAnswer' },
        onError: BUG,
      },
    }),
    written: podSetup.createStateConfig({
      always: [
        { guard: 'isStored', target: stored },
        { target: 'rereading', actions: 'countLateTry' },
      ],
    }),
    rereading: podSetup.createStateConfig({
      invoke: { id: 'read', src: 'read', input: uidInput, onDone: { target: 'reread', actions: 'takeAnswer' }, onError: BUG },
    }),
    reread: podSetup.createStateConfig({
      always: [
        { guard: 'isUnknown', target: 'rewaiting' },
        // Found by trial: without its rights, a run held a pod out for ever.
        { guard: 'isRefused', target: 'rewaiting', actions: 'countLateTry' },
        { target: 'deciding' },
      ],
    }),
    rewaiting: podSetup.createStateConfig({
      after: { retry: [{ guard: 'isOverdue', target: 'deciding' }, { target: 'rereading' }] },
    }),
  }
}
