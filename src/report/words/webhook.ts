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

/** A warning of the webhook for a client of the API server. Kubernetes shows up to 256 characters. */
export type WebhookWarning =
  | { readonly code: 'decision-cut-off'; readonly afterMs: number }
  | { readonly code: 'decision-failed' }
  | { readonly code: 'decided'; readonly mode: 'enforce' | 'audit'; readonly short: string }

export function webhookWarningWords(warning: WebhookWarning): string {
  switch (warning.code) {
    case 'decision-cut-off':
      return `sluice: the rules took longer than ${warning.afterMs} ms, so that the endpoints are stored as they were written`
    case 'decision-failed':
      return 'sluice: the rules could not be evaluated, so that the endpoints are stored as they were written'
    case 'decided':
      return warning.mode === 'audit'
        ? `sluice: rules would have decided (${warning.short})`
        : `sluice: rules have decided (${warning.short})`
  }
}
