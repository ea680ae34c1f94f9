import type { From } from './inputs.ts'
import { targetsInput } from './inputs.ts'
import type { EffectInput } from './ports.ts'
import { podSetup } from './setup.ts'
import { BUG } from './writing.ts'

/**
 * The states that restore the targets and compare them with their prior state. The state that uses them supplies `compared`, which decides
 * on the answer. Only a difference after a restore counts: a target that is unread, or still drained, has not come back otherwise.
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

/** The ends of a pod whose targets came back differently too often, or did not come back in time. */
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
