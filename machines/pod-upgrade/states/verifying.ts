import { and } from 'xstate'
import { comparing, NOT_AS_BEFORE } from '../comparing.ts'
import { restoreInput } from '../inputs.ts'
import { podSetup } from '../setup.ts'

/** Compares the targets by a read-back: each is in rotation with its prior weight and state. */
export const verifying = podSetup.createStateConfig({
  entry: 'begin',
  initial: 'comparing',
  after: { restoreDeadline: { actions: 'expireRestore' } },
  states: {
    ...comparing(restoreInput),
    compared: { always: [{ guard: 'isEqual', target: '#pod.closing' }, { target: 'differing' }] },
    differing: {
      always: NOT_AS_BEFORE,
      // An unknown state is read again, without another call: each call delays the moment from which a read-back counts.
      after: {
        retry: [
          { guard: 'isVanished', target: '#pod.settling' },
          // Another writer can have patched the pod since the first call.
          { guard: and(['isDifferent', 'isFit']), target: 'calling' },
          { target: 'comparing' },
        ],
      },
    },
  },
})
