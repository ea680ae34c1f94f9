/* The English of `sluice webhook`: rules, and decisions about endpoints. */

export interface RulesSummary {
  readonly version: string
  readonly mode: 'enforce' | 'audit'
  readonly rules: readonly { readonly name: string; readonly effect: string; readonly reads: readonly string[] }[]
}

/** A line for the document, and a line for each rule. */
export function rulesSummaryWords({ version, mode, rules }: RulesSummary): string[] {
  const amount = rules.length === 0 ? 'no rule' : rules.length === 1 ? '1 rule' : `${rules.length} rules`
  const audit = mode === 'audit' ? '; mode audit: decisions change nothing' : ''
  return [
    `version ${version}: ${amount}${audit}`,
    ...rules.map(({ name, effect, reads }) => `  ${name}: ${effect}; reads ${reads.length === 0 ? 'nothing' : reads.join(', ')}`),
  ]
}
