import type { Facts } from './rule-set.ts'

export interface Evaluation {
  readonly facts: Facts
  stepsLeft: number
}

/**
 * What functions and counted steps need during an evaluation, and CEL does not pass to them. An evaluation has no pause, so that there is
 * one at a time.
 */
let current: Evaluation | undefined

export function evaluateWith<T>(evaluation: Evaluation, evaluate: () => T): T {
  const outer = current
  const { stackTraceLimit } = Error
  current = evaluation
  // A rule may fail for each of a thousand endpoints, and most of the cost of a failure is its stack, which tells nothing of the rule.
  Error.stackTraceLimit = 0
  try {
    return evaluate()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
    current = outer
  }
}

export function running(): Evaluation {
  if (current === undefined) throw new Error('no evaluation is under way')
  return current
}
