import type { Target } from '../../../adapters/contract.ts'
import type { JournalTarget } from '../../pods/glossary.ts'

export type TargetKey = Pick<JournalTarget, 'loadBalancer' | 'target'>

/** The unique key of a target among all load balancers. */
export function keyOf({ loadBalancer, target }: TargetKey): string {
  return JSON.stringify([loadBalancer, target])
}

/** The target as its adapter knows it. */
export function plain({ target, scope }: JournalTarget): Target {
  return { id: target, scope }
}
