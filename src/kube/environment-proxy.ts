import { BlockList, isIP } from 'node:net'

export interface EnvironmentProxy {
  /** That it is named by. */
  variable: string
  /** May hold a password. */
  url: string
}

/**
 * The proxy that the environment names for a server, by the rules of kubectl (golang.org/x/net/http/httpproxy): HTTPS_PROXY or
 * HTTP_PROXY by the server's scheme, except for loopback and for what NO_PROXY names. The same in small letters where they are
 * not set.
 */
export function environmentProxy(server: string, env: NodeJS.ProcessEnv): EnvironmentProxy | undefined {
  const { protocol, hostname, port } = new URL(server)
  const name = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const variable = [name, name.toLowerCase()].find((one) => env[one])
  const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  if (variable === undefined || isLoopback(host)) return undefined
  const exceptions = (env['NO_PROXY'] || env['no_proxy'] || '').toLowerCase().split(',')
  const at = { host, port: port || (protocol === 'https:' ? '443' : '80') }
  if (exceptions.some((exception) => covers(exception.trim(), at))) return undefined
  const written = env[variable]!
  return { variable, url: written.includes('://') ? written : `http://${written}` }
}

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

function isLoopback(host: string): boolean {
  return host === 'localhost' || isListed(host, LOOPBACK)
}

/** `*`; a block of addresses; an address; a domain with all below it, or, with a dot before it, these alone. The last two also with a port. */
function covers(exception: string, { host, port }: { host: string; port: string }): boolean {
  if (exception === '*') return true
  const block = blockOf(exception)
  if (block !== undefined) return isListed(host, block)
  const { name, port: only = port } = splitPort(exception)
  if (name === '' || only !== port) return false
  if (name === host) return true
  if (isIP(name) !== 0 || isIP(host) !== 0) return false
  const below = name.replace(/^\*?\.?/, '.')
  return host.endsWith(below)
}

function splitPort(text: string): { name: string; port?: string | undefined } {
  if (isIP(text) !== 0) return { name: text }
  const { v6, name = text, port } = /^(?:\[(?<v6>.*)\]|(?<name>[^:]*))(?::(?<port>\d+))?$/.exec(text)?.groups ?? {}
  return { name: v6 ?? name, port }
}

/** Of `10.0.0.0/8`. */
function blockOf(text: string): BlockList | undefined {
  const [, address = '', bits] = /^([^/]+)\/(\d+)$/.exec(text) ?? []
  const family = isIP(address)
  if (family === 0 || Number(bits) > (family === 4 ? 32 : 128)) return undefined
  const block = new BlockList()
  block.addSubnet(address, Number(bits), family === 4 ? 'ipv4' : 'ipv6')
  return block
}

function isListed(host: string, list: BlockList): boolean {
  const family = isIP(host)
  return family !== 0 && list.check(host, family === 4 ? 'ipv4' : 'ipv6')
}
