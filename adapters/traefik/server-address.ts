import type { Address } from '../contract.ts'

/**
 * The address and port of a server's URL; without a port, it is the port of the scheme. Undefined for a text that is no URL with a host.
 * A server can have several URLs: with and without a `/` at the end, and in capitals.
 */
export function serverAddress(text: string): Address | undefined {
  if (!URL.canParse(text)) return undefined
  const { protocol, hostname, port } = new URL(text)
  if (hostname === '') return undefined
  return { address: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (protocol === 'https:' ? 443 : 80) }
}
