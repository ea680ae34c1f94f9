/**
 * Servers that get their pods from DNS: several servers of one name (`server-template … resolvers`), and servers of an SRV record. If a pod
 * leaves DNS because it is not ready, its server loses the address but keeps the drain, and later gets the address of any pod. So a drain
 * may hit another pod (HAProxy 2.6).
 * A server with a name of its own keeps its pod: https://docs.haproxy.org/2.6/configuration.html#5.3
 */
import type { ServerState } from './servers-state.ts'

/** The text of `show servers state` for an empty value. */
const NONE = '-'

/** The key of servers that can get the same pod: the name in lower case, and the port. */
function nameOf({ hostName, port }: ServerState): string {
  return `${hostName.toLowerCase()}:${port}`
}

/** The number of servers for each name. A map keeps the search fast for thousands of pods and servers. */
export function countByName(servers: readonly ServerState[]): ReadonlyMap<string, number> {
  const named = Map.groupBy(servers, nameOf)
  return new Map([...named].map(([name, own]) => [name, own.length]))
}

/** The reason why a server may get another pod before its drain ends. Undefined if it keeps its pod. */
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
