/**
 * A target's id is what the config calls its id, and its address: `web-0@10.0.0.1:80`. A name may get another address;
 * then it is another pod's, and not touched. `web-0@10.0.0.1:80+`: other entries of its scope had that address too.
 */
import { formatAddress, parseAddress } from '../address.ts'
import type { Address, Target } from '../contract.ts'

/** What expressions see of a target. */
export interface TargetValue {
  id: string
  /** `host:port`, `[v6]:port` */
  address: string
  host: string
  port: bigint
  scope: string
}

const SHARED = '+'

/** Of an entry, which has its address as text. */
export function sharedTargetId(name: string, address: string): string {
  return `${name}@${address}${SHARED}`
}

/** What else has the address of this target may have had it all along, under a name of its own. */
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

/** Undefined where the id is none of this adapter. */
export function parseTarget({ id, scope }: Target): TargetValue | undefined {
  const name = entryOf(id)
  const address = parseAddress(id.slice(id.lastIndexOf('@') + 1, isShared(id) ? -SHARED.length : undefined))
  if (name === '' || address === undefined) return undefined
  return { id: name, address: formatAddress(address), host: address.address, port: BigInt(address.port), scope }
}
