/** Reads the servers of a service from the API of a Traefik. */
import { z } from 'zod'
import { formatAddress } from '../address.ts'
import { fetchJson } from '../fetch-json.ts'
import { serverAddress } from './server-address.ts'

export interface ServerView {
  weight: number
  /** The result of Traefik's health checks. True if it makes none. */
  isUp: boolean
}

export interface View {
  url: string
  /** The servers by `formatAddress`, because Traefik may show the URL of a server in the form of a former file. */
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
  // The URLs of the statuses may have another form than the URLs of the servers.
  const statuses = byAddress(Object.entries(serverStatus))
  const weights = byAddress((loadBalancer?.servers ?? []).map(({ url: server = '', weight }) => [server, weight]))
  const servers = [...weights].map(([address, of]): [string, ServerView] => {
    const status = statuses.get(address) ?? []
    return [address, { weight: Math.max(...of), isUp: status.length === 0 || status.some((word) => word !== 'DOWN') }]
  })
  return { url, servers: new Map(servers) }
}

/** Groups the values by address. A former file may have an address with several paths. */
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
