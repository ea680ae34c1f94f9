import { BlockList, isIP } from 'node:net'

export interface EnvironmentProxy {
  /** The name of the variable. */
  variable: string
  /** The URL, which may contain a password. */
  url: string
}

/**
 * The proxy for a server from the environment, by the rules of kubectl (golang.org/x/net/http/httpproxy): HTTPS_PROXY or HTTP_PROXY by the
 * scheme of the server, except for loopback addresses and the entries of NO_PROXY. The lower-case names are used if these are not set.
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

/**
 * Matches `*`; a block of addresses; an address; or a domain with its subdomains, with a leading dot the subdomains only. The last two may
 * have a port.
 */
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

/** The block of a text such as `10.0.0.0/8`. */
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
