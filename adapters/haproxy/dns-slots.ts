/**
 * Servers that DNS deals out among pods: several of one name (`server-template … resolvers`), and those of an SRV record. Found by trial
 * on HAProxy 2.6: where DNS has a pod no more, since it is not ready, its server loses the address and keeps the drain; the next address
 * that comes goes to any server without one. So another pod was out, and nobody knew of it, since the one that had been drained was found
 * ready at another server. A server whose name no other asks for keeps its pod:
 * https://docs.haproxy.org/2.6/configuration.html#5.3
 */
import type { ServerState } from './servers-state.ts'

/** What `show servers state` writes for nothing. */
const NONE = '-'

/** Names are the same in any case; servers of one name and two ports cannot have one entry of a pod. */
function nameOf({ hostName, port }: ServerState): string {
  return `${hostName.toLowerCase()}:${port}`
}

/** How many servers ask for each name. Thousands of pods are looked up among thousands of servers. */
export function countByName(servers: readonly ServerState[]): ReadonlyMap<string, number> {
  const named = Map.groupBy(servers, nameOf)
  return new Map([...named].map(([name, own]) => [name, own.length]))
}

/** Why a server may be another pod's before its drain has ended; undefined where it stays its pod's. */
export function whyDealt(
  backend: string,
  where: string,
  server: ServerState,
  dnsNames: ReadonlyMap<string, number>,
): string | undefined {
  const { name, hostName, srvRecord } = server
  const isShared = hostName !== NONE && (dnsNames.get(nameOf(server)) ?? 0) > 1
  if (srvRecord === NONE && !isShared) return undefined
  const source = srvRecord === NONE ? `${hostName}, as other servers do` : `the SRV record ${srvRecord}`
  return (
    `${backend}/${name} of ${where} gets its address by DNS from ${source}: while its pod restarts, DNS may hand it to another pod, ` +
    `drained as it is; write a server for each pod, with the pod's address or a DNS name of its own`
  )
}
