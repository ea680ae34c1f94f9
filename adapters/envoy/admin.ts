/** Reads the hosts of a cluster from the admin interface of an Envoy. */
import { z } from 'zod'
import { formatAddress } from '../address.ts'
import { fetchJson } from '../fetch-json.ts'
import { stateOf, type State } from './assignment.ts'

export interface Host {
  /** The state from EDS. */
  state: State
  /** The health from EDS and from Envoy's own checks. */
  isHealthy: boolean
  /** The number of requests and upgraded connections in progress. Null if Envoy does not count them. */
  inFlight: number | null
}

export interface View {
  url: string
  /** The hosts by `formatAddress`. With several clusters of the same endpoints, an address has one host for each cluster. */
  hosts: ReadonlyMap<string, readonly Host[]>
  /** True if too few hosts are healthy. Envoy then sends requests to all of them, including hosts in DRAINING. */
  isInPanic: boolean
  /** Whether Envoy would be in panic if these hosts were drained too. */
  wouldPanic(drained: readonly string[]): boolean
}

const hostStatus = z.object({
  address: z
    .object({ socket_address: z.object({ address: z.string(), port_value: z.number().optional() }).optional() })
    .optional(),
  stats: z.array(z.object({ name: z.string().optional(), value: z.coerce.number().default(0) })).default([]),
  health_status: z.record(z.string(), z.unknown()).default({}),
  priority: z.number().default(0),
})

const clustersPage = z.object({
  cluster_statuses: z
    .array(
      z.object({
        name: z.string(),
        eds_service_name: z.string().optional(),
        host_statuses: z.array(hostStatus).default([]),
      }),
    )
    .default([]),
})

const configPage = z.object({
  configs: z
    .array(
      z.object({
        cluster: z
          .object({
            name: z.string().optional(),
            common_lb_config: z
              .object({ healthy_panic_threshold: z.object({ value: z.number().default(0) }).optional() })
              .optional(),
          })
          .prefault({}),
      }),
    )
    .default([]),
})

type ClusterStatus = z.infer<typeof clustersPage>['cluster_statuses'][number]

/** The panic threshold of Envoy in percent, if the cluster sets none. */
const PANIC_THRESHOLD = 50

export interface Admin {
  url: string
  look(signal: AbortSignal): Promise<View>
}

export function createAdmin(url: string, cluster: string): Admin {
  const origin = new URL(url).origin
  /** The thresholds by cluster. They are cached, because the config of a cluster does not change. */
  const thresholds = new Map<string, number>()

  async function thresholdOf(name: string, signal: AbortSignal): Promise<number> {
    const known = thresholds.get(name)
    if (known !== undefined) return known
    let threshold = PANIC_THRESHOLD
    for (const resource of ['static_clusters', 'dynamic_active_clusters']) {
      const { configs } = await fetchJson(`${origin}/config_dump?resource=${resource}`, configPage, signal)
      const config = configs.find((one) => one.cluster.name === name)?.cluster.common_lb_config
      if (config?.healthy_panic_threshold !== undefined) threshold = config.healthy_panic_threshold.value
    }
    thresholds.set(name, threshold)
    return threshold
  }

  return {
    url: origin,
    async look(signal) {
      const page = await fetchJson(`${origin}/clusters?format=json`, clustersPage, signal)
      const own = page.cluster_statuses.filter((status) => (status.eds_service_name || status.name) === cluster)
      if (own.length === 0) {
        const names = page.cluster_statuses.map(({ name }) => name).join(', ')
        throw new Error(`the Envoy at ${origin} has no cluster with the endpoints of ${cluster}; it has ${names || 'none'}`)
      }
      const clusters = await Promise.all(
        own.map(async (status) => ({ hosts: hostsOf(status), threshold: await thresholdOf(status.name, signal) })),
      )
      const hosts = new Map<string, Host[]>()
      for (const { hosts: some } of clusters)
        for (const { address, ...host } of some) hosts.set(address, [...(hosts.get(address) ?? []), host])
      const wouldPanic = (drained: readonly string[]): boolean =>
        clusters.some((one) => panics(one.hosts, one.threshold, new Set(drained)))
      return { url: origin, hosts, isInPanic: wouldPanic([]), wouldPanic }
    },
  }
}

interface ClusterHost extends Host {
  address: string
  priority: number
}

function hostsOf({ host_statuses: statuses }: ClusterStatus): ClusterHost[] {
  return statuses.flatMap(({ address, stats, health_status: health, priority }) => {
    const socket = address?.socket_address
    if (socket?.port_value === undefined) return []
    const { eds_health_status: eds, ...checks } = health
    const state = stateOf(typeof eds === 'string' ? eds : null)
    return [
      {
        address: formatAddress({ address: socket.address, port: socket.port_value }),
        state,
        // Each other status makes the host unhealthy.
        isHealthy:
          state === 'in' && !Object.entries(checks).some(([name, is]) => is === true && name !== 'failed_active_degraded_check'),
        inFlight: stats.find(({ name }) => name === 'rq_active')?.value ?? 0,
        priority,
      },
    ]
  })
}

/**
 * Whether the hosts are in panic. Hosts in DRAINING do not count. With several priorities, the panic also depends on the other priorities,
 * so the result is false.
 */
function panics(hosts: readonly ClusterHost[], threshold: number, drained: ReadonlySet<string>): boolean {
  if (new Set(hosts.map(({ priority }) => priority)).size > 1) return false
  const counted = hosts.filter(({ address, state }) => state !== 'draining' && !drained.has(address))
  const healthy = counted.filter(({ isHealthy }) => isHealthy).length
  const percent = counted.length === 0 ? 0 : (100 * healthy) / counted.length
  return hosts.length > 0 && percent < threshold
}
