import type { Observed } from './reading.ts'
import type { TargetKey } from './target-key.ts'
import { keyOf } from './target-key.ts'

/**
 * The last answers of load balancers that cannot be read. An answer is believed. After a lost answer, or one that an earlier process had,
 * the state is unknown.
 */
export interface LastAnswers {
  /** The load balancer has answered with this state. */
  answer(target: TargetKey, state: 'in' | 'out'): void
  /** Assumes the state without an answer, such as "in" for a pod that is looked for. */
  note(target: TargetKey, state: 'in' | 'out'): void
  forget(target: TargetKey): void
  stateOf(target: TargetKey): 'in' | 'out' | undefined
  /** Reports whether the known state is an assumption. */
  isSupposed(target: TargetKey): boolean
  observe(target: TargetKey): Observed
}

export function createLastAnswers(): LastAnswers {
  const known = new Map<string, { state: 'in' | 'out'; isAnswer: boolean }>()

  return {
    answer: (target, state) => void known.set(keyOf(target), { state, isAnswer: true }),
    note(target, state) {
      // An assumption with the state of the last answer does not replace the answer.
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
