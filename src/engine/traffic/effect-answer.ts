import { AdapterError } from '../../../adapters/contract.ts'
import type { EffectAnswer } from '../../../machines/pod-upgrade/ports.ts'
import { reasonOf } from '../errors.ts'

/**
 * What an error of a drain or restore says about the world. That an entry is not there may be so for a moment, while a load balancer
 * comes up: a drain is given up for it, which puts the pod back; a restore is the way back, and is tried until its deadline.
 */
export function answerOf(error: unknown, effect: 'drain' | 'restore'): EffectAnswer {
  const reason = reasonOf(error)
  // What is no adapter error may have happened at any moment: nobody knows.
  if (!(error instanceof AdapterError)) return { kind: 'unknown', reason }
  if (error.kind === 'ambiguous') return { kind: 'unknown', reason }
  if (error.kind === 'retryable' || error.kind === 'throttled' || error.kind === 'conflict') return { kind: 'retryable', reason }
  if (error.kind === 'not-found' && effect === 'restore') return { kind: 'retryable', reason }
  return { kind: 'refused', reason }
}

/** A doubt about one target outweighs everything: it has to be read back first. */
const RANK = ['unknown', 'refused', 'retryable', 'applied'] as const

export function worst(answers: readonly EffectAnswer[]): EffectAnswer {
  for (const kind of RANK) {
    const found = answers.find((answer) => answer.kind === kind)
    if (found) return answers.some(({ lateCall }) => lateCall) ? { ...found, lateCall: true } : found
  }
  return { kind: 'applied' }
}
