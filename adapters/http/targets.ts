/**
 * The id of a target consists of the id in the config and the address: `web-0@10.0.0.1:80`. If the address of the name changes, the entry
 * belongs to another pod, and the adapter does not touch it. A `+` at the end, as in `web-0@10.0.0.1:80+`, means that other entries of the
 * scope had the address too.
 */
import { formatAddress, parseAddress } from '../address.ts'
import type { Address, Target } from '../contract.ts'

/** The target as a variable of expressions. */
export interface TargetValue {
  id: string
  /** The address as `host:port` or `[v6]:port`. */
  address: string
  host: string
  port: bigint
  scope: string
}

const SHARED = '+'

/** The id for an entry whose address other entries of the scope share. */
export function sharedTargetId(name: string, address: string): string {
  return `${name}@${address}${SHARED}`
}

/** True if other entries had the address too. Another entry with this address may then be one of those, not this target. */
export function isShared(id: string): boolean {
  return id.endsWith(SHARED)
}

export function formatTargetId(id: string, address: Address): string {
  return `${id}@${formatAddress(address)}`
}

/** The id without the address. */
export function entryOf(id: string): string {
  return id.slice(0, Math.max(0, id.lastIndexOf('@')))
}

/** Undefined if the id is not from this adapter. */
export function parseTarget({ id, scope }: Target): TargetValue | undefined {
  const name = entryOf(id)
  const address = parseAddress(id.slice(id.lastIndexOf('@') + 1, isShared(id) ? -SHARED.length : undefined))
  if (name === '' || address === undefined) return undefined
  return { id: name, address: formatAddress(address), host: address.address, port: BigInt(address.port), scope }
}
