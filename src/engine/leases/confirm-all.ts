import { RunError } from '../errors.ts'
import type { Ownership } from './hold-lease.ts'

/** Confirms each of the Leases. False: another owner has one of them. Undefined: the API server does not answer for one of them. */
export async function confirmAll(held: Iterable<Ownership>): Promise<boolean | undefined> {
  const confirmed = await Promise.all(Array.from(held, (one) => one.confirm()))
  if (confirmed.includes(false)) return false
  return confirmed.includes(undefined) ? undefined : true
}

/** @throws RunError of kind `conflict` where another owner has a Lease, and of kind `deadline` where that is not known */
export function assertConfirmed(confirmed: boolean | undefined): void {
  if (confirmed === undefined) throw new RunError('deadline', { code: 'lease-ran-out' })
  if (!confirmed) throw new RunError('conflict', { code: 'lease-lost' })
}
