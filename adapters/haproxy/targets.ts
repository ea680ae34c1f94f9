/**
 * A target's id names the server and its address: `web/a@10.0.0.1:80`. What counts is the address: a reload may deal the slots of
 * a template out anew, and then the pod gets its requests under another name. HAProxy's commands go by name: the one that the
 * server of that address has now. With `sockets` the id begins with that of the instance, which the scope says in any case.
 */
import { formatAddress } from '../address.ts'
import type { Address } from '../contract.ts'
import { isHaproxyName } from './options.ts'
import type { ServerState } from './servers-state.ts'

export interface ServerKey extends Address {
  name: string
}

/** An address that is written with its port already, in the one writing. */
export function rewriteAddress(written: string): string {
  const [, v6, port] = /^\[(.*)\]:(\d+)$/.exec(written) ?? []
  return v6 === undefined ? written : formatAddress({ address: v6, port: Number(port) })
}

export function formatTargetId(prefix: string, server: ServerState): string {
  return `${prefix}/${server.name}@${formatAddress(server)}`
}

/** The server as an operator names it, in its scope. */
export function entryOf(id: string): string {
  return id.slice(0, id.lastIndexOf('@')).split('/').at(-1)!
}

/** Undefined where the id has none of these prefixes. */
export function parseTargetId(prefixes: readonly string[], id: string): ServerKey | undefined {
  const prefix = prefixes.find((one) => id.startsWith(`${one}/`))
  if (prefix === undefined) return undefined
  const [, name, v6, v4, port] = /^([^@/]+)@(?:\[([0-9a-f:.]+)\]|([^:[\]]+)):(\d+)$/.exec(id.slice(prefix.length + 1)) ?? []
  const address = v6 ?? v4
  if (name === undefined || address === undefined || !isHaproxyName(name)) return undefined
  return { name, address, port: Number(port) }
}

/** Thousands of pods are looked up among thousands of servers. */
export function indexByAddress(servers: readonly ServerState[]): Map<string, ServerState[]> {
  return Map.groupBy(servers, formatAddress)
}

/** Why no server has the address of a target. */
export function whyMissing(byName: ReadonlyMap<string, ServerState>, key: ServerKey): string {
  const server = byName.get(key.name)
  if (server === undefined) return `there is no server ${key.name} any more, and none has the address ${formatAddress(key)}`
  return `server ${key.name} has the address ${formatAddress(server)} now, not ${formatAddress(key)}, which none has`
}

/** Why none of several is the target: the others would go on serving. */
export function whyShared(backend: string, where: string, servers: readonly ServerState[]): string {
  const names = servers.map(({ name }) => `${backend}/${name}`).join(' and ')
  return `${names} of ${where} ${servers.length === 2 ? 'both' : 'all'} have the address ${formatAddress(servers[0]!)}`
}
