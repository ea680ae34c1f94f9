/**
 * The file of EDS as a management server: Envoy asks for it over xDS, as REST (`api_type: REST`). The version that Envoy asks with is
 * the one that it has taken, which is its ACK; where it refuses a file, it asks with the former one.
 */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { ProductAnswer, ProductServer } from '../contract.ts'
import { readYaml } from '../document/edit-yaml.ts'
import { readAssignment } from './assignment.ts'

export const DISCOVERY_PATH = '/v3/discovery:endpoints'
/** Where the adapter reads what each Envoy has taken. */
export const NODES_PATH = '/nodes'

const LONGEST_ID = 256
const MOST_NODES = 2_000
/** An Envoy that has not asked for so long is gone, and is waited for no more. */
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
      /** The address that it asks from. */
      from: z.string(),
      /** Of each endpoint of the cluster the health status that this Envoy goes by; absent where that is not known. */
      statuses: z.record(z.string(), z.union([z.string(), z.number(), z.null()])).optional(),
    }),
  ),
})

export type NodesPage = z.infer<typeof nodesPage>
type Statuses = NonNullable<NodesPage['nodes'][number]['statuses']>

export interface DiscoveryOptions {
  cluster: string
  read(): Promise<string>
  /** Monotonic milliseconds. */
  now?: () => number
}

interface Node {
  id: string
  from: string
  /** The version that it goes by. */
  taken: string
  /** The version that it was given last. */
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
  /** By version. A version that no Envoy has taken is forgotten. */
  const sent = new Map<string, Statuses>()
  /** By id and address: Envoys that have one id by mistake are told apart so. */
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
    // An Envoy asks for each of its clusters by itself.
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

  /** What this request tells of the Envoy. */
  function note({ id, from, taken, version, statuses }: Asked): Pick<ProductAnswer, 'notice'> {
    const key = keyOf(id, from)
    const before = nodes.get(key)
    // An Envoy that has just started has refused nothing.
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

/** By the content: an operator may change the file and leave its `version_info`. */
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
