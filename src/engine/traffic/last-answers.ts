import type { TargetObservation } from '../../../adapters/contract.ts'
import type { TargetKey } from './target-key.ts'
import { keyOf } from './target-key.ts'

/**
 * What load balancers that cannot be read have last answered for: all that is known of them. An answer is believed; where
 * one was lost, or an earlier process had it, nothing is known.
 */
export interface LastAnswers {
  note(target: TargetKey, state: 'in' | 'out'): void
  forget(target: TargetKey): void
  stateOf(target: TargetKey): 'in' | 'out' | undefined
  observe(target: TargetKey): TargetObservation
}

export function createLastAnswers(): LastAnswers {
  const states = new Map<string, 'in' | 'out'>()

  return {
    note: (target, state) => void states.set(keyOf(target), state),
    forget: (target) => void states.delete(keyOf(target)),
    stateOf: (target) => states.get(keyOf(target)),
    observe(target) {
      const state = states.get(keyOf(target))
      const detail = 'it cannot be read back'
      if (state === 'in') return { admin: 'in', routable: true, inFlight: null, detail }
      if (state === 'out') return { admin: 'draining', routable: false, inFlight: null, detail }
      return { admin: 'unknown', routable: false, inFlight: null, detail }
    },
  }
}
