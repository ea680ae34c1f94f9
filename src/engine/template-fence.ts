import type { RunLedgers } from './ledgers/history.ts'
import type { Owners } from './leases/owners.ts'

/**
 * The fence for a template that is taken over as it is found. It is unique to this owner of this run. See
 * docs/decisions/0027-a-fence-for-the-template.md.
 */
export function fenceOf({ current }: RunLedgers, { epoch }: Owners): string {
  return `${current.ledger.header.run}/${epoch}`
}
