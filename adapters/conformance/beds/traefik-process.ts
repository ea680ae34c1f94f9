/** A real Traefik, with one service in a file, in a folder of its own. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse, stringify } from 'yaml'
import type { Endpoint } from '../../contract.ts'
import { waitUntil } from './haproxy-process.ts'
import { findPort, type Reach, reachDirectly, startProduct } from './product-process.ts'

export interface TraefikOptions {
  program: string
  folder: string
  /** Of this one among several in the folder. */
  name?: string
  /** That of another one, which both read. */
  file?: string
  endpoints: readonly Endpoint[]
  /** providersThrottleDuration; Traefik's own default is 2s. */
  throttle: string
  /** Of the health checks, or `never`; 50ms unless given. */
  checkEvery?: string
  reach?: Reach
  /** Starts what serves the file on a port of 127.0.0.1, which Traefik asks instead of reading the file. */
  serve?: (file: string) => Promise<{ port: number }>
}

export interface TraefikProcess {
  /** In a folder that Traefik watches, which is in another one that it does not watch. */
  file: string
  /** Where clients connect, on the network of the program. */
  front: { host: string; port: number }
  api: string
  /** Of the service, on the API. */
  servers(): Promise<TraefikServer[]>
  isDown(endpoint: Endpoint): Promise<boolean>
  restart(): Promise<void>
  stop(): Promise<void>
}

/** A server of the file, as a person edits it. */
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

/** As an operator does it, outside of the watched folder: a file that is made there would hold back what comes next. */
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

/** Of the http provider. */
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

/** What the operator has written is over once Traefik shows it. */
export async function waitForServers({ servers }: TraefikProcess, has: (servers: TraefikServer[]) => boolean): Promise<void> {
  await waitUntil(async () => has(await servers()), 'Traefik has taken the file')
}
