import type { Address } from '../contract.ts'

/**
 * Of a server's URL, whose port is that of its scheme where it has none. Undefined where it is no URL with a host. One server can have
 * several URLs: with and without a `/` at the end, and in capitals.
 */
export function serverAddress(text: string): Address | undefined {
  if (!URL.canParse(text)) return undefined
  const { protocol, hostname, port } = new URL(text)
  if (hostname === '') return undefined
  return { address: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (protocol === 'https:' ? 443 : 80) }
}
