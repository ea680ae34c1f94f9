/** What an Envoy says of the hosts of a cluster on its admin interface. */
import { z } from 'zod'
import { formatAddress } from '../address.ts'
import { fetchJson } from '../fetch-json.ts'
import { stateOf, type State } from './assignment.ts'

export interface Host {
  /** By EDS. */
  state: State
  /** By EDS and by Envoy's own checks. */
  isHealthy: boolean
  /** Requests and upgraded connections under way; null where nothing counts them. */
  inFlight: number | null
}

export interface View {
  url: string
  /** By `formatAddress`; of several clusters with the same endpoints, each has its own. */
  hosts: ReadonlyMap<string, readonly Host[]>
  /** Too few hosts are healthy: Envoy sends requests to all of them, those in DRAINING too. */
  isInPanic: boolean
  /** Whether it would be, with these drained besides. */
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

/** Envoy's own, in percent, where a cluster says nothing else. */
const PANIC_THRESHOLD = 50

export interface Admin {
  url: string
  look(signal: AbortSignal): Promise<View>
}

export function createAdmin(url: string, cluster: string): Admin {
  const origin = new URL(url).origin
  /** By cluster. What a cluster is configured with stays. */
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
        // Each of the others is a reason not to use it.
        isHealthy:
          state === 'in' && !Object.entries(checks).some(([name, is]) => is === true && name !== 'failed_active_degraded_check'),
        inFlight: stats.find(({ name }) => name === 'rq_active')?.value ?? 0,
        priority,
      },
    ]
  })
}

/** Hosts in DRAINING do not count. With several priorities it depends on the others, and is left open. */
function panics(hosts: readonly ClusterHost[], threshold: number, drained: ReadonlySet<string>): boolean {
  if (new Set(hosts.map(({ priority }) => priority)).size > 1) return false
  const counted = hosts.filter(({ address, state }) => state !== 'draining' && !drained.has(address))
  const healthy = counted.filter(({ isHealthy }) => isHealthy).length
  const percent = counted.length === 0 ? 0 : (100 * healthy) / counted.length
  return hosts.length > 0 && percent < threshold
}
