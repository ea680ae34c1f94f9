/** Addresses of endpoints and entries, each in one writing. */
import type { Address } from './contract.ts'

/** One writing for each IPv6 address; names in small letters. */
export function canonicalAddress(address: string): string {
  if (!address.includes(':')) return address.toLowerCase()
  const url = `http://[${address}]`
  return URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : address
}

/** `10.0.0.1:80`, `[fd00::1]:80` */
export function formatAddress({ address, port }: Address): string {
  const canonical = canonicalAddress(address)
  return canonical.includes(':') ? `[${canonical}]:${port}` : `${canonical}:${port}`
}

/** `address:port` or `[v6]:port`; what is after the last colon is the port. Undefined where it is neither. */
export function parseAddress(text: string): Address | undefined {
  const [, v6, plain, port] = /^(?:\[([^\]@\s]+)\]|([^[\]@\s]+)):(\d{1,5})$/.exec(text) ?? []
  const address = v6 ?? plain
  if (address === undefined || Number(port) === 0 || Number(port) > 65_535) return undefined
  return { address: canonicalAddress(address), port: Number(port) }
}
