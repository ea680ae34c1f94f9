import { and } from 'xstate'
import { comparing, NOT_AS_BEFORE } from '../comparing.ts'
import { restoreInput } from '../inputs.ts'
import { podSetup } from '../setup.ts'

/** Read back: in rotation with its prior weight and state. */
export const verifying = podSetup.createStateConfig({
  entry: 'begin',
  initial: 'comparing',
  after: { restoreDeadline: { actions: 'expireRestore' } },
  states: {
    ...comparing(restoreInput),
    compared: { always: [{ guard: 'isEqual', target: '#pod.closing' }, { target: 'differing' }] },
    differing: {
      always: NOT_AS_BEFORE,
      // What is not known is read again. Found by simulation: each call puts off the moment from which a read-back counts.
      after: {
        retry: [
          { guard: 'isVanished', target: '#pod.settling' },
          // Found by simulation: somebody had patched the pod since the first call.
          { guard: and(['isDifferent', 'isFit']), target: 'calling' },
          { target: 'comparing' },
        ],
      },
    },
  },
})
