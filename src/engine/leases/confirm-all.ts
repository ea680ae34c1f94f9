import { RunError } from '../errors.ts'
import type { Ownership } from './hold-lease.ts'

/**
 * Asks for each of these Leases where it has run out. False: another owner has one of them. Undefined: of one that is not known, since
 * the API server does not say.
 */
export async function confirmAll(held: Iterable<Ownership>): Promise<boolean | undefined> {
  const confirmed = await Promise.all(Array.from(held, (one) => one.confirm()))
  if (confirmed.includes(false)) return false
  return confirmed.includes(undefined) ? undefined : true
}

/** @throws RunError of kind `conflict` where another has it, `deadline` where nobody can say */
export function assertConfirmed(confirmed: boolean | undefined): void {
  if (confirmed === undefined) throw new RunError('deadline', { code: 'lease-ran-out' })
  if (!confirmed) throw new RunError('conflict', { code: 'lease-lost' })
}
