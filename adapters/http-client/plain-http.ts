/**
 * Rules for plain HTTP, which others on the network path can read and answer. A secret uses it only on loopback, unless the user allows
 * more.
 */
import { isIP } from 'node:net'
import { z } from 'zod'

export const allowPlainHttp = z
  .boolean()
  .default(false)
  .describe('true: secrets may go to another host over plain HTTP, where all that is on the way can read them.')

/** The solution for the problem. A config shows it on its own line. */
export const PLAIN_HTTP_WAY_OUT = 'write https, or a loopback address; or allowPlainHttp: true where nobody else is on the way'

function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** True for a plain HTTP URL of another host. False for a text that is not a URL, because no request goes there. */
export function isPlainElsewhere(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !isLoopback(hostname)
}
