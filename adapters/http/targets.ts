/**
 * A target's id is what the config calls its id, and its address: `web-0@10.0.0.1:80`. A name may get another address;
 * then it is another pod's, and not touched. `web-0@10.0.0.1:80+`: other entries of its scope had that address too.
 */
import type { Target } from '../contract.ts'

export interface Address {
  host: string
  port: number
}

/** What expressions see of a target. */
export interface TargetValue {
  id: string
  /** `host:port`, `[v6]:port` */
  address: string
  host: string
  port: bigint
  scope: string
}

/** One writing for each IPv6 address. */
function canonicalHost(host: string): string {
  if (!host.includes(':')) return host.toLowerCase()
  const url = `http://[${host}]`
  return URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : host
}

export function formatAddress({ host, port }: Address): string {
  const canonical = canonicalHost(host)
  return canonical.includes(':') ? `[${canonical}]:${port}` : `${canonical}:${port}`
}

/** `host:port` or `[v6]:port`; what is after the last colon is the port. Undefined where it is neither. */
export function parseAddress(text: string): Address | undefined {
  const [, v6, plain, port] = /^(?:\[([^\]@\s]+)\]|([^[\]@\s]+)):(\d{1,5})$/.exec(text) ?? []
  const host = v6 ?? plain
  if (host === undefined || Number(port) === 0 || Number(port) > 65_535) return undefined
  return { host: canonicalHost(host), port: Number(port) }
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
  return { id: name, address: formatAddress(address), host: address.host, port: BigInt(address.port), scope }
}
