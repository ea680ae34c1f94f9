/**
 * The EDS file as a management server: Envoy fetches it over xDS as REST (`api_type: REST`). The version in a request of Envoy is the
 * version that it has loaded, which is its ACK. If Envoy refuses a file, it sends the former version.
 */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { ProductAnswer, ProductServer } from '../contract.ts'
import { readYaml } from '../document/edit-yaml.ts'
import { readAssignment } from './assignment.ts'

export const DISCOVERY_PATH = '/v3/discovery:endpoints'
/** The path where the adapter reads what each Envoy has loaded. */
export const NODES_PATH = '/nodes'

const LONGEST_ID = 256
const MOST_NODES = 2_000
/**
 * The time after the last request of an Envoy, in milliseconds, after which it counts as gone. The adapter does not wait for it any more.
 */
const FORGOTTEN_AFTER_MS = 600_000

const discoveryRequest = z.object({
  version_info: z.string().max(LONGEST_ID).default(''),
  node: z.object({ id: z.string().max(LONGEST_ID).default('') }).prefault({}),
  resource_names: z.array(z.string()).default([]),
})

export const nodesPage = z.strictObject({
  nodes: z.array(
    z.strictObject({
      id: z.string(),
      /** The IP address of the Envoy. */
      from: z.string(),
      /** The health status of each endpoint of the cluster in this Envoy. Absent if it is unknown. */
      statuses: z.record(z.string(), z.union([z.string(), z.number(), z.null()])).optional(),
    }),
  ),
})

export type NodesPage = z.infer<typeof nodesPage>
type Statuses = NonNullable<NodesPage['nodes'][number]['statuses']>

export interface DiscoveryOptions {
  cluster: string
  read(): Promise<string>
  /** A monotonic clock in milliseconds. */
  now?: () => number
}

interface Node {
  id: string
  from: string
  /** The version that the Envoy has loaded. */
  taken: string
  /** The version that the server sent to it last. */
  offered: string
  hasRefused: boolean
  askedAtMs: number
}

interface Asked {
  id: string
  from: string
  taken: string
  version: string
  statuses: Statuses
}

export function createDiscovery({ cluster, read, now = () => performance.now() }: DiscoveryOptions): ProductServer {
  /** The statuses by version. A version that no Envoy has loaded or got last is forgotten. */
  const sent = new Map<string, Statuses>()
  /** The Envoys by id and address, because several Envoys may have one id by mistake. */
  const nodes = new Map<string, Node>()

  function forgetOld(): void {
    for (const [key, { askedAtMs }] of nodes) if (now() - askedAtMs > FORGOTTEN_AFTER_MS) nodes.delete(key)
    const known = new Set([...nodes.values()].flatMap(({ taken, offered }) => [taken, offered]))
    for (const version of sent.keys()) if (!known.has(version)) sent.delete(version)
  }

  async function discover(body: string, from: string): Promise<ProductAnswer> {
    const asked = discoveryRequest.safeParse(jsonOf(body))
    if (!asked.success) return { status: 400, body: 'this is no DiscoveryRequest' }
    const {
      version_info: taken,
      node: { id },
      resource_names: names,
    } = asked.data
    if (id === '') return { status: 400, body: 'the request has no node.id: set it in the bootstrap of Envoy' }
    const text = await read()
    const version = versionOf(text)
    const statuses = statusesIn(text, cluster)
    // An Envoy sends one request for each of its clusters.
    const isAboutCluster = names.length === 0 || names.includes(cluster)
    if (isAboutCluster && !nodes.has(keyOf(id, from)) && nodes.size >= MOST_NODES)
      return { status: 503, notice: `More than ${MOST_NODES} Envoys ask` }
    const notice = isAboutCluster ? note({ id, from, taken, version, statuses }) : {}
    if (taken === version) return { status: 304, ...notice }
    const { resources } = readYaml(text) as { resources: Resource[] }
    const wanted = names.length === 0 ? resources : resources.filter((resource) => names.includes(clusterOf(resource)))
    const answer = { version_info: version, type_url: TYPE_URL, resources: wanted }
    return { status: 200, contentType: 'application/json', body: JSON.stringify(answer), ...notice }
  }

  /** Stores the state of the Envoy from its request. Gives a notice for the operator. */
  function note({ id, from, taken, version, statuses }: Asked): Pick<ProductAnswer, 'notice'> {
    const key = keyOf(id, from)
    const before = nodes.get(key)
    // An Envoy that has just started has no version, so it has refused nothing.
    const hasRefused = taken !== version && taken !== '' && before?.offered === version
    sent.set(version, statuses)
    nodes.set(key, { id, from, taken, offered: version, hasRefused, askedAtMs: now() })
    forgetOld()
    const others = before === undefined ? [...nodes.values()].filter((one) => one.id === id && one.from !== from) : []
    if (others.length > 0) return { notice: `${from} and ${others[0]!.from} ask as ${id}: give each Envoy a node.id of its own` }
    if (taken === version) return before?.taken === taken ? {} : { notice: `${id} has taken ${version}` }
    return hasRefused && !before.hasRefused ? { notice: refusal(id, version) } : {}
  }

  return {
    async answer({ method, path, body, from }) {
      if (method === 'POST' && path === DISCOVERY_PATH) return discover(body, from)
      if (method !== 'GET' || path !== NODES_PATH)
        return { status: 404, body: `ask with POST ${DISCOVERY_PATH}, or GET ${NODES_PATH}` }
      forgetOld()
      const page: NodesPage = {
        nodes: [...nodes.values()].map(({ id, from: own, taken }) => {
          const statuses = sent.get(taken)
          return { id, from: own, ...(statuses === undefined ? {} : { statuses }) }
        }),
      }
      return { status: 200, contentType: 'application/json', body: JSON.stringify(page) }
    },
  }
}

function keyOf(id: string, from: string): string {
  return JSON.stringify([id, from])
}

function refusal(id: string, version: string): string {
  return `${id} has not taken ${version}: it refuses the file (update_rejected in its /stats, and its log)`
}

const TYPE_URL = 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment'

/** The version of the file is a hash of its content, because an operator may edit the file without a new `version_info`. */
function versionOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

function statusesIn(text: string, cluster: string): Statuses {
  return Object.fromEntries([...readAssignment(text, cluster).endpoints].map(([address, { status }]) => [address, status]))
}

interface Resource {
  cluster_name?: string
  clusterName?: string
  resource?: Resource
}

function clusterOf({ cluster_name: name, clusterName, resource }: Resource): string {
  return name ?? clusterName ?? (resource === undefined ? '' : clusterOf(resource))
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
