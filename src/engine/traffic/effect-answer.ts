import { AdapterError } from '../../../adapters/contract.ts'
import type { EffectAnswer } from '../../../machines/pod-upgrade/ports.ts'
import { reasonOf } from '../errors.ts'

/**
 * The answer that the error of a drain or restore stands for. An entry may be missing for a moment while a load balancer starts. A drain is
 * given up for a missing entry, which puts the pod back. A restore is retried until its deadline, since it is the way back.
 */
export function answerOf(error: unknown, effect: 'drain' | 'restore'): EffectAnswer {
  const reason = reasonOf(error)
  // An error that no adapter made may have come at any moment, so the result is unknown.
  if (!(error instanceof AdapterError)) return { kind: 'unknown', reason }
  if (error.kind === 'ambiguous') return { kind: 'unknown', reason }
  if (error.kind === 'retryable' || error.kind === 'throttled' || error.kind === 'conflict') return { kind: 'retryable', reason }
  if (error.kind === 'not-found' && effect === 'restore') return { kind: 'retryable', reason }
  return { kind: 'refused', reason }
}

/** The answers, the worst first. A doubt outweighs the others, since the target must be read back first. */
const RANK = ['unknown', 'refused', 'retryable', 'applied'] as const

export function worst(answers: readonly EffectAnswer[]): EffectAnswer {
  for (const kind of RANK) {
    const found = answers.find((answer) => answer.kind === kind)
    if (found) return answers.some(({ lateCall }) => lateCall) ? { ...found, lateCall: true } : found
  }
  return { kind: 'applied' }
}
