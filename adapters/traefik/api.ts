/** What a Traefik says of the servers of a service on its API. */
import { z } from 'zod'
import { formatAddress } from '../address.ts'
import { fetchJson } from '../fetch-json.ts'
import { serverAddress } from './server-address.ts'

export interface ServerView {
  weight: number
  /** By Traefik's health checks; true where it makes none. */
  isUp: boolean
}

export interface View {
  url: string
  /** By `formatAddress`: Traefik may show the URL of a server as a former file had it. */
  servers: ReadonlyMap<string, ServerView>
}

const servicePage = z.object({
  loadBalancer: z
    .object({ servers: z.array(z.object({ url: z.string().optional(), weight: z.number().default(1) })).default([]) })
    .optional(),
  serverStatus: z.record(z.string(), z.string()).default({}),
})

export async function lookAt(url: string, service: string, provider: 'file' | 'http', signal: AbortSignal): Promise<View> {
  const page = `${new URL(url).origin}/api/http/services/${encodeURIComponent(service)}@${provider}`
  const { loadBalancer, serverStatus } = await fetchJson(page, servicePage, signal)
  // The URLs of the status are in another writing than those of the servers.
  const statuses = byAddress(Object.entries(serverStatus))
  const weights = byAddress((loadBalancer?.servers ?? []).map(({ url: server = '', weight }) => [server, weight]))
  const servers = [...weights].map(([address, of]): [string, ServerView] => {
    const status = statuses.get(address) ?? []
    return [address, { weight: Math.max(...of), isUp: status.length === 0 || status.some((word) => word !== 'DOWN') }]
  })
  return { url, servers: new Map(servers) }
}

/** A former file can have had an address under several paths. */
function byAddress<Value>(pairs: readonly [url: string, value: Value][]): Map<string, Value[]> {
  const values = new Map<string, Value[]>()
  for (const [url, value] of pairs) {
    const address = serverAddress(url)
    if (address === undefined) continue
    const key = formatAddress(address)
    values.set(key, [...(values.get(key) ?? []), value])
  }
  return values
}
