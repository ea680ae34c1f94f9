import type { Observed } from './reading.ts'
import type { TargetKey } from './target-key.ts'
import { keyOf } from './target-key.ts'

/**
 * What load balancers that cannot be read have last answered for: all that is known of them. An answer is believed; where
 * one was lost, or an earlier process had it, nothing is known.
 */
export interface LastAnswers {
  /** It has answered for it. */
  answer(target: TargetKey, state: 'in' | 'out'): void
  /** It is taken to be so without that, as any that is looked for to be upgraded is taken to be in. */
  note(target: TargetKey, state: 'in' | 'out'): void
  forget(target: TargetKey): void
  stateOf(target: TargetKey): 'in' | 'out' | undefined
  /** What it is known as is no answer. */
  isSupposed(target: TargetKey): boolean
  observe(target: TargetKey): Observed
}

export function createLastAnswers(): LastAnswers {
  const known = new Map<string, { state: 'in' | 'out'; isAnswer: boolean }>()

  return {
    answer: (target, state) => void known.set(keyOf(target), { state, isAnswer: true }),
    note(target, state) {
      // That it is still as it has answered.
      if (known.get(keyOf(target))?.state !== state) known.set(keyOf(target), { state, isAnswer: false })
    },
    forget: (target) => void known.delete(keyOf(target)),
    stateOf: (target) => known.get(keyOf(target))?.state,
    isSupposed: (target) => known.get(keyOf(target))?.isAnswer === false,
    observe(target) {
      const state = known.get(keyOf(target))?.state
      const by = { code: 'cannot-read-back' } as const
      if (state === 'in') return { admin: 'in', routable: true, inFlight: null, by }
      if (state === 'out') return { admin: 'draining', routable: false, inFlight: null, by }
      return { admin: 'unknown', routable: false, inFlight: null, by }
    },
  }
}
