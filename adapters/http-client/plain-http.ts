/** Plain HTTP can be read and answered by others on the way. A secret goes over it on loopback alone, unless the user allows more. */
import { isIP } from 'node:net'
import { z } from 'zod'

export const allowPlainHttp = z
  .boolean()
  .default(false)
  .describe('true: secrets may go to another host over plain HTTP, where all that is on the way can read them.')

/** Goes after what is wrong, on a line of its own in a config. */
export const PLAIN_HTTP_WAY_OUT = 'write https, or a loopback address; or allowPlainHttp: true where nobody else is on the way'

function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** True for a plain HTTP URL of another host. A text that is no URL is false: no request goes there. */
export function isPlainElsewhere(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !isLoopback(hostname)
}
