import type { StoredAddress, StoredEndpoint } from '../../endpoints/stored.ts'

/** The key of an endpoint in the slices of one address type. */
export function entryKey({ addresses, targetRef }: Pick<StoredEndpoint, 'addresses' | 'targetRef'>): string {
  return `${targetRef?.uid ?? ''} ${addresses[0] ?? ''}`
}

/** The key of an address in Endpoints. */
export function addressKey({ ip, targetRef }: StoredAddress): string {
  return `${targetRef?.uid ?? ''} ${ip}`
}
