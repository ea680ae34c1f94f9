/** A real Traefik in its own folder, with one service in a file. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse, stringify } from 'yaml'
import type { Endpoint } from '../../contract.ts'
import { waitUntil } from './haproxy-process.ts'
import { findPort, type Reach, reachDirectly, startProduct } from './product-process.ts'

export interface TraefikOptions {
  program: string
  folder: string
  /** The name of this process, for several processes in one folder. */
  name?: string
  /** The file of another process, which both processes read. */
  file?: string
  endpoints: readonly Endpoint[]
  /** The providersThrottleDuration. The default of Traefik is 2s. */
  throttle: string
  /** The interval of the health checks, or `never`. Default: 50ms. */
  checkEvery?: string
  reach?: Reach
  /** Starts a server for the file on a port of 127.0.0.1. Traefik then fetches the file instead of reading it. */
  serve?: (file: string) => Promise<{ port: number }>
}

export interface TraefikProcess {
  /** The file. It is in a folder that Traefik watches, within a folder that it does not watch. */
  file: string
  /** The address for clients, in the network of the program. */
  front: { host: string; port: number }
  api: string
  /** The servers of the service from the API. */
  servers(): Promise<TraefikServer[]>
  isDown(endpoint: Endpoint): Promise<boolean>
  restart(): Promise<void>
  stop(): Promise<void>
}

/** A server of the file. */
export interface TraefikServer {
  url: string
  weight?: number
}

export function urlOf({ address, port }: Endpoint): string {
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`
}

export interface DynamicFile {
  http: { services: { web: { loadBalancer: { servers: TraefikServer[] } } } }
}

export function readServers(file: string): TraefikServer[] {
  return (parse(readFileSync(file, 'utf8')) as DynamicFile).http.services.web.loadBalancer.servers
}

/**
 * Edits the file as an operator does. The new file is made outside of the watched folder, because a new file there would delay the next
 * change.
 */
export function editServers(file: string, edit: (servers: TraefikServer[]) => void): void {
  const dynamic = parse(readFileSync(file, 'utf8')) as DynamicFile
  edit(dynamic.http.services.web.loadBalancer.servers)
  replaceFile(file, stringify(dynamic))
}

export function replaceFile(file: string, text: string): void {
  const made = join(file, '../../edited')
  writeFileSync(made, text)
  renameSync(made, file)
}

/** The poll interval of the http provider. */
export const POLL_INTERVAL = '200ms'

export async function startTraefik({
  program,
  folder,
  name = 'traefik',
  file: shared,
  endpoints,
  throttle,
  checkEvery = '50ms',
  reach = reachDirectly,
  serve,
}: TraefikOptions): Promise<TraefikProcess> {
  const file = shared ?? join(folder, 'dynamic', 'web.yaml')
  const watched = dirname(file)
  const config = join(folder, `${name}.json.yml`)
  const [frontPort, apiPort] = [await findPort(), await findPort()]
  const api = `http://127.0.0.1:${await reach(apiPort)}`
  const reachedFront = `http://127.0.0.1:${await reach(frontPort)}/`
  const healthCheck = { path: '/', interval: checkEvery, timeout: '1s' }
  const loadBalancer = {
    ...(checkEvery === 'never' ? {} : { healthCheck }),
    servers: endpoints.map((endpoint): TraefikServer => ({ url: urlOf(endpoint) })),
  }
  const routers = { all: { rule: 'PathPrefix(`/`)', service: 'web', entryPoints: ['web'] } }
  if (shared === undefined) {
    mkdirSync(watched)
    writeFileSync(file, stringify({ http: { routers, services: { web: { loadBalancer } } } }))
  }
  const provider =
    serve === undefined
      ? { file: { directory: watched, watch: true } }
      : { http: { endpoint: `http://127.0.0.1:${(await serve(file)).port}/`, pollInterval: POLL_INTERVAL, pollTimeout: '5s' } }
  const shownAs = `web@${serve === undefined ? 'file' : 'http'}`
  writeFileSync(
    config,
    stringify({
      entryPoints: { web: { address: `127.0.0.1:${frontPort}` }, traefik: { address: `127.0.0.1:${apiPort}` } },
      api: { insecure: true },
      log: { level: 'ERROR' },
      global: { checkNewVersion: false, sendAnonymousUsage: false },
      providers: { providersThrottleDuration: throttle, ...provider },
    }),
  )

  interface ServicePage {
    loadBalancer: { servers: TraefikServer[] }
    serverStatus?: Record<string, string>
  }
  async function page(): Promise<ServicePage> {
    const answer = await fetch(`${api}/api/http/services/${shownAs}`)
    if (!answer.ok) throw new Error(`${answer.status}`)
    return (await answer.json()) as ServicePage
  }
  const front = { host: '127.0.0.1', port: frontPort }
  const traefik = await startProduct({
    name: 'Traefik',
    program,
    args: [`--configFile=${config}`],
    isReady: async () =>
      (await page()).loadBalancer.servers.length === endpoints.length && (await fetch(reachedFront)).status !== 404,
  })
  return {
    file,
    front,
    api,
    servers: async () => (await page()).loadBalancer.servers,
    isDown: async (endpoint) => (await page()).serverStatus?.[urlOf(endpoint)] === 'DOWN',
    restart: () => traefik.restart(),
    stop: () => traefik.stop(),
  }
}

/** Waits until Traefik shows the servers that an operator has written. */
export async function waitForServers({ servers }: TraefikProcess, has: (servers: TraefikServer[]) => boolean): Promise<void> {
  await waitUntil(async () => has(await servers()), 'Traefik has taken the file')
}
