import type { Target } from '../../../adapters/contract.ts'
import type { JournalTarget } from '../../pods/glossary.ts'

export type TargetKey = Pick<JournalTarget, 'loadBalancer' | 'target'>

/** Names a target among those of all load balancers. */
export function keyOf({ loadBalancer, target }: TargetKey): string {
  return JSON.stringify([loadBalancer, target])
}

/** As its adapter knows it. */
export function plain({ target, scope }: JournalTarget): Target {
  return { id: target, scope }
}
