import type { Address } from '../contract.ts'

/**
 * The address and the port in the URL of a server. Without a port, it is the default port of the scheme. Undefined if the text is not a URL
 * with a host. Different URLs may have one address: with or without a `/` at the end, and in upper or lower case.
 */
export function serverAddress(text: string): Address | undefined {
  if (!URL.canParse(text)) return undefined
  const { protocol, hostname, port } = new URL(text)
  if (hostname === '') return undefined
  return { address: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (protocol === 'https:' ? 443 : 80) }
}
