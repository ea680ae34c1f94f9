import type { RunLedgers } from './ledgers/history.ts'
import type { Owners } from './leases/owners.ts'

/** For a template that is taken over as it is found: no other owner of any run has the same. See docs/decisions/0027-a-fence-for-the-template.md. */
export function fenceOf({ current }: RunLedgers, { epoch }: Owners): string {
  return `${current.ledger.header.run}/${epoch}`
}
