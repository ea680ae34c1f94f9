/** A real Envoy in its own folder, on a unix socket. It has one cluster with endpoints from a file. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import type { Endpoint } from '../../contract.ts'
import { waitUntil } from './haproxy-process.ts'
import { findPort, type Reach, reachDirectly, startProduct } from './product-process.ts'

const TYPES = 'type.googleapis.com/envoy'
const MANAGER = `${TYPES}.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager`
const ROUTER = `${TYPES}.extensions.filters.http.router.v3.Router`
const ASSIGNMENT = `${TYPES}.config.endpoint.v3.ClusterLoadAssignment`

export interface EnvoyOptions {
  program: string
  folder: string
  /** The EDS file. Default: `eds.yaml` in the folder. */
  file?: string
  endpoints: readonly Endpoint[]
  /** The number of endpoints with health checks, from the first. Default: 3. */
  checked?: number
  /** The panic threshold of the cluster in percent. The default of Envoy is 50. */
  panicThreshold?: number
  /** The name of the process, for several processes in one folder. */
  name?: string
  /** The port on 127.0.0.1 for clients, in addition to the socket. */
  frontPort?: number
  reach?: Reach
  /** The port on 127.0.0.1 from which Envoy fetches its endpoints instead of the file. */
  discoveryPort?: number
}

export interface EnvoyProcess {
  file: string
  front: string
  admin: string
  /** Gives a page of the admin interface as text. */
  ask(path: string): Promise<string>
  /** Gives a field of an endpoint from the human-readable list of Envoy: `health_flags`, `weight`. */
  field(endpoint: Endpoint, field: string): Promise<string | undefined>
  restart(): Promise<void>
  stop(): Promise<void>
}

/** An endpoint of the file. */
export interface LbEndpoint {
  endpoint: object
  health_status?: string
  load_balancing_weight?: number
}

export interface EdsFile {
  version_info?: string
  resources: { endpoints: { lb_endpoints: LbEndpoint[] }[] }[]
}

export function edsText(endpoints: readonly Endpoint[], checked = 3): string {
  const lbEndpoints = endpoints.map(({ address, port }, index) => {
    const unchecked = index < checked ? {} : { health_check_config: { disable_active_health_check: true } }
    return { endpoint: { address: { socket_address: { address, port_value: port } }, ...unchecked } }
  })
  const resource = { '@type': ASSIGNMENT, cluster_name: 'web', endpoints: [{ lb_endpoints: lbEndpoints }] }
  return stringify({ version_info: 'first', resources: [resource] })
}

/** Edits the file as an operator does: a new file replaces the old one. */
export function editEds(file: string, index: number, version: string, edit: (endpoint: LbEndpoint) => void): void {
  const eds = parse(readFileSync(file, 'utf8')) as EdsFile
  eds.version_info = version
  edit(eds.resources[0]!.endpoints[0]!.lb_endpoints[index]!)
  replaceFile(file, stringify(eds))
}

export function replaceFile(file: string, text: string): void {
  writeFileSync(`${file}.edited`, text)
  renameSync(`${file}.edited`, file)
}

export async function startEnvoy(options: EnvoyOptions): Promise<EnvoyProcess> {
  const {
    program,
    folder,
    endpoints,
    checked = 3,
    panicThreshold,
    name = 'envoy',
    frontPort,
    reach = reachDirectly,
    discoveryPort,
  } = options
  const file = options.file ?? join(folder, 'eds.yaml')
  const [front, config] = [`${name}.sock`, `${name}.json`].map((one) => join(folder, one)) as [string, string]
  const port = await findPort()
  const admin = `http://127.0.0.1:${await reach(port)}`
  if (options.file === undefined) writeFileSync(file, edsText(endpoints, checked))
  writeFileSync(config, JSON.stringify(configuration({ file, front, frontPort, port, panicThreshold, discoveryPort })))

  const ask = async (path: string): Promise<string> => (await fetch(`${admin}${path}`)).text()
  async function field({ address, port: own }: Endpoint, wanted: string): Promise<string | undefined> {
    const start = `web::${address.includes(':') ? `[${address}]` : address}:${own}::${wanted}::`
    const line = (await ask('/clusters')).split('\n').find((text) => text.startsWith(start))
    return line?.slice(start.length)
  }
  async function areHealthy(): Promise<boolean> {
    const flags = await Promise.all(endpoints.slice(0, checked).map((endpoint) => field(endpoint, 'health_flags')))
    return flags.every((flag) => flag !== undefined && !flag.includes('active_hc'))
  }
  const envoy = await startProduct({
    name: 'Envoy',
    program,
    args: ['-c', config, '--concurrency', '1', '--disable-hot-restart', '--log-level', 'warning'],
    isReady: async () => (await ask('/ready')).startsWith('LIVE'),
  })
  try {
    await waitUntil(areHealthy, 'the first health checks have passed')
  } catch (error) {
    await envoy.stop()
    throw error
  }
  return { file, front, admin, ask, field, restart: () => envoy.restart(), stop: () => envoy.stop() }
}

interface Places {
  file: string
  front: string
  frontPort: number | undefined
  port: number
  panicThreshold: number | undefined
  discoveryPort: number | undefined
}

function configuration({ file, front, frontPort, port, panicThreshold, discoveryPort }: Places): object {
  const virtualHost = {
    name: 'all',
    domains: ['*'],
    routes: [{ match: { prefix: '/' }, route: { cluster: 'web', timeout: '60s' } }],
  }
  const manager = {
    '@type': MANAGER,
    stat_prefix: 'front',
    route_config: { virtual_hosts: [virtualHost] },
    http_filters: [{ name: 'router', typed_config: { '@type': ROUTER } }],
  }
  const source = discoveryPort === undefined ? { path_config_source: { path: file } } : { api_config_source: DISCOVERY }
  const fronts = [{ pipe: { path: front } }, ...(frontPort === undefined ? [] : [loopback(frontPort)])]
  const check = { timeout: '1s', interval: '0.05s', unhealthy_threshold: 1, healthy_threshold: 1 }
  return {
    node: { id: 'bed', cluster: 'bed' },
    admin: { address: loopback(port) },
    static_resources: {
      listeners: fronts.map((address, index) => {
        return { name: `front-${index}`, address, filter_chains: [{ filters: [{ name: 'manager', typed_config: manager }] }] }
      }),
      clusters: [
        {
          name: 'web',
          type: 'EDS',
          connect_timeout: '2s',
          eds_cluster_config: { eds_config: { resource_api_version: 'V3', ...source } },
          health_checks: [{ ...check, no_traffic_interval: '0.05s', http_health_check: { path: '/' } }],
          ...(panicThreshold === undefined ? {} : { common_lb_config: { healthy_panic_threshold: { value: panicThreshold } } }),
        },
        ...(discoveryPort === undefined ? [] : [discoveryCluster(discoveryPort)]),
      ],
    },
  }
}

function loopback(port: number): object {
  return { socket_address: { address: '127.0.0.1', port_value: port } }
}

const DISCOVERY = {
  api_type: 'REST',
  transport_api_version: 'V3',
  cluster_names: ['sluice'],
  refresh_delay: '0.1s',
  request_timeout: '5s',
}

function discoveryCluster(port: number): object {
  const endpoint = { address: loopback(port) }
  const assignment = { cluster_name: 'sluice', endpoints: [{ lb_endpoints: [{ endpoint }] }] }
  return { name: 'sluice', type: 'STATIC', connect_timeout: '1s', load_assignment: assignment }
}
