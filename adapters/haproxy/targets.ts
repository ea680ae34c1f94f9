/**
 * The id of a target has the server and its address: `web/a@10.0.0.1:80`. The address identifies the target, because a reload may assign
 * the slots of a template to other pods. Commands use the current name of the server with that address. With `sockets`, the id starts with
 * the instance, which is also in the scope.
 */
import { formatAddress } from '../address.ts'
import type { Address } from '../contract.ts'
import { isHaproxyName } from './options.ts'
import type { ServerState } from './servers-state.ts'

export interface ServerKey extends Address {
  name: string
}

/** Rewrites a text with address and port in the canonical form. */
export function rewriteAddress(written: string): string {
  const [, v6, port] = /^\[(.*)\]:(\d+)$/.exec(written) ?? []
  return v6 === undefined ? written : formatAddress({ address: v6, port: Number(port) })
}

export function formatTargetId(prefix: string, server: ServerState): string {
  return `${prefix}/${server.name}@${formatAddress(server)}`
}

/** The server as an operator names it, within its scope. */
export function entryOf(id: string): string {
  return id.slice(0, id.lastIndexOf('@')).split('/').at(-1)!
}

/** Parses an id. Undefined if it has none of these prefixes. */
export function parseTargetId(prefixes: readonly string[], id: string): ServerKey | undefined {
  const prefix = prefixes.find((one) => id.startsWith(`${one}/`))
  if (prefix === undefined) return undefined
  const [, name, v6, v4, port] = /^([^@/]+)@(?:\[([0-9a-f:.]+)\]|([^:[\]]+)):(\d+)$/.exec(id.slice(prefix.length + 1)) ?? []
  const address = v6 ?? v4
  if (name === undefined || address === undefined || !isHaproxyName(name)) return undefined
  return { name, address, port: Number(port) }
}

/** The servers by address. A map keeps the search fast for thousands of pods and servers. */
export function indexByAddress(servers: readonly ServerState[]): Map<string, ServerState[]> {
  return Map.groupBy(servers, formatAddress)
}

/** The reason why no server has the address of a target. */
export function whyMissing(byName: ReadonlyMap<string, ServerState>, key: ServerKey): string {
  const server = byName.get(key.name)
  if (server === undefined) return `there is no server ${key.name} any more, and none has the address ${formatAddress(key)}`
  return `server ${key.name} has the address ${formatAddress(server)} now, not ${formatAddress(key)}, which none has`
}

/** The reason why several servers with one address cannot be the target: a drain of one of them leaves the others in rotation. */
export function whyShared(backend: string, where: string, servers: readonly ServerState[]): string {
  const names = servers.map(({ name }) => `${backend}/${name}`).join(' and ')
  return `${names} of ${where} ${servers.length === 2 ? 'both' : 'all'} have the address ${formatAddress(servers[0]!)}`
}
