/** Addresses of endpoints and entries, each in a canonical form. */
import type { Address } from './contract.ts'

/** The canonical form of an address. Each IPv6 address has one form; host names are in lower case. */
export function canonicalAddress(address: string): string {
  if (!address.includes(':')) return address.toLowerCase()
  const url = `http://[${address}]`
  return URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : address
}

/** The address and the port as text: `10.0.0.1:80`, `[fd00::1]:80`. */
export function formatAddress({ address, port }: Address): string {
  const canonical = canonicalAddress(address)
  return canonical.includes(':') ? `[${canonical}]:${port}` : `${canonical}:${port}`
}

/** Parses `address:port` or `[v6]:port`; the port follows the last colon. Undefined for any other text. */
export function parseAddress(text: string): Address | undefined {
  const [, v6, plain, port] = /^(?:\[([^\]@\s]+)\]|([^[\]@\s]+)):(\d{1,5})$/.exec(text) ?? []
  const address = v6 ?? plain
  if (address === undefined || Number(port) === 0 || Number(port) > 65_535) return undefined
  return { address: canonicalAddress(address), port: Number(port) }
}
