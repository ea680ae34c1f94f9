import type { RuleSet } from './rule-set.ts'

/** Another state of a pod may change a decision by these rules. */
export function readsPods({ rules }: RuleSet): boolean {
  return rules.some(({ reads, effect }) => reads.has('pod') || effect === 'keepPrevious')
}
