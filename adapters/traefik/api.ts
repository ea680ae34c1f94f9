/** What a Traefik says of the servers of a service on its API. */
import { z } from 'zod'
import { fetchJson } from '../fetch-json.ts'

export interface ServerView {
  weight: number
  /** By Traefik's health checks; true where it makes none. */
  isUp: boolean
}

export interface View {
  url: string
  /** By the URL of the server. */
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
  const servers = (loadBalancer?.servers ?? []).flatMap(({ url: server, weight }): [string, ServerView][] =>
    server === undefined ? [] : [[server, { weight, isUp: serverStatus[server] !== 'DOWN' }]],
  )
  return { url, servers: new Map(servers) }
}
