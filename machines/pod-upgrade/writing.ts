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

/**
 * The input of the write where that is not the record of the context. A fence is written on the stored record, and does not change the
 * context.
 */
const INPUTS: Partial<Record<Recording, typeof storeInput>> = { recordClaim: claimInput, fence: fenceInput }

export const BUG = { target: '#pod.needsOperator', actions: 'endBug' } as const

/**
 * A guarded write to the pod. A write without a clear success is read back, and `deciding` (of the state that uses this) decides by the
 * stored record. A pause comes before the next try, which begins in `again`: failing writes with working reads would loop otherwise. Tries
 * after the deadline are limited, since the API server may be back by then.
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
        // A missing right counts as a failed try, so that the run does not hold the pod out for ever.
        { guard: 'isRefused', target: 'rewaiting', actions: 'countLateTry' },
        { target: 'deciding' },
      ],
    }),
    rewaiting: podSetup.createStateConfig({
      after: { retry: [{ guard: 'isOverdue', target: 'deciding' }, { target: 'rereading' }] },
    }),
  }
}
