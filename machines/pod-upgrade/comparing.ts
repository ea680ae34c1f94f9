import type { From } from './inputs.ts'
import { targetsInput } from './inputs.ts'
import type { EffectInput } from './ports.ts'
import { podSetup } from './setup.ts'
import { BUG } from './writing.ts'

/**
 * Put back, and compared with what was before: `compared` (given by the state that uses this) goes by the answer. What differs
 * where no restore was done, or nobody knows, or it is drained still, is no sign that it came back as something else, and is not
 * counted.
 */
export function comparing(restoreInput: (from: From) => EffectInput) {
  return {
    calling: podSetup.createStateConfig({
      invoke: {
        id: 'restore',
        src: 'effect',
        input: restoreInput,
        onDone: { target: 'called', actions: 'takeAnswer' },
        onError: BUG,
      },
    }),
    called: podSetup.createStateConfig({
      always: [
        {
          guard: 'isRefused',
          target: '#pod.needsOperator',
          actions: { type: 'overrule', params: { outcome: 'needsOperator', reason: 'restoreRefused' } },
        },
        { guard: 'isApplied', target: 'comparing' },
        { target: 'doubting' },
      ],
    }),
    doubting: podSetup.createStateConfig({ entry: 'forgetTries', after: { retry: 'comparing' } }),
    comparing: podSetup.createStateConfig({
      invoke: {
        id: 'compare',
        src: 'compare',
        input: targetsInput,
        onDone: { target: 'compared', actions: 'takeAnswer' },
        onError: BUG,
      },
    }),
  }
}

/** It is back as something else, too often; or not back, for too long. */
export const NOT_AS_BEFORE = [
  {
    guard: 'isTooDifferent',
    target: '#pod.needsOperator',
    actions: { type: 'overrule', params: { outcome: 'needsOperator', reason: 'restoredDifferently' } },
  },
  {
    guard: 'isExpired',
    target: '#pod.needsOperator',
    actions: { type: 'overrule', params: { outcome: 'needsOperator', reason: 'restoreNotConfirmed', deadline: 'restore' } },
  },
] as const
