import type { Decision, EndpointDecision } from './decision.ts'

const MOST_ADDRESSES = 3
/** An audit log and an annotation are read by people. */
const LONGEST = 1_000

/**
 * The decision in one line, for an annotation and the audit log: the version of the rules, and for each rule its effect and the addresses,
 * such as `v7: upgrading=notReady 10.0.0.1,10.0.0.2; late=failed 10.0.0.3`. Equal decisions have equal lines, whenever they are made.
 */
export function shortDecision({ ruleSet, mode, endpoints }: Decision): string {
  const groups = new Map<string, string[]>()
  for (const endpoint of endpoints)
    for (const saying of sayings(endpoint)) {
      const addresses = groups.get(saying) ?? []
      groups.set(saying, addresses)
      addresses.push(endpoint.addresses[0] ?? '')
    }
  const parts = [...groups].map(([saying, addresses]) => {
    const more = addresses.length - MOST_ADDRESSES
    return `${saying} ${addresses.toSorted().slice(0, MOST_ADDRESSES).join(',')}${more > 0 ? `,+${more}` : ''}`
  })
  return `${ruleSet}${mode === 'audit' ? ' audit' : ''}: ${parts.toSorted().join('; ')}`.slice(0, LONGEST)
}

function sayings({ rule, effect, failed }: EndpointDecision): string[] {
  return [...(rule === undefined ? [] : [`${rule}=${effect}`]), ...failed.map((one) => `${one.rule}=failed`)]
}
