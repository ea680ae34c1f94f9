/**
 * The endpoints of one cluster in an EDS file: a DiscoveryResponse with ClusterLoadAssignments as resources. Envoy accepts each field in
 * the spelling of protobuf and of JSON: `health_status` and `healthStatus`.
 */
import { formatAddress } from '../address.ts'
import type { Address } from '../contract.ts'
import { type Path, type Plain, readYaml } from '../document/edit-yaml.ts'

export type State = 'in' | 'draining' | 'out'

/** An endpoint in the file. */
export interface FileEndpoint extends Address {
  /** The path in the file to the map with the health status. */
  path: Path
  /** The name of the status field in the spelling of the file. */
  statusField: string
  /** The status as written. Null if the file has none. */
  status: string | number | null
  state: State
  weight?: number
}

export interface Assignment {
  /** The endpoints by `formatAddress`. */
  endpoints: ReadonlyMap<string, FileEndpoint>
  versionField: string
}

/** The error for a file that the adapter cannot use. */
export class AssignmentError extends Error {
  override readonly name = 'AssignmentError'
}

const STATUS_NAMES = ['UNKNOWN', 'HEALTHY', 'UNHEALTHY', 'DRAINING', 'TIMEOUT', 'DEGRADED']

/** The state for the name or the number of a health status. Envoy treats an unknown name as no status. */
export function stateOf(status: Plain | undefined): State {
  const name = typeof status === 'number' ? STATUS_NAMES[status] : status
  if (name === 'DRAINING') return 'draining'
  return name === 'UNHEALTHY' || name === 'TIMEOUT' ? 'out' : 'in'
}

/** The reason why Envoy does not apply the written status. */
export function strangeStatus({ status }: FileEndpoint): string | undefined {
  const isKnown = status === null || STATUS_NAMES.includes(String(status)) || STATUS_NAMES[Number(status)] !== undefined
  return isKnown ? undefined : `health_status ${JSON.stringify(status)} is none that Envoy knows: it counts as HEALTHY`
}

type Fields = Readonly<Record<string, unknown>>

export function readAssignment(text: string, cluster: string): Assignment {
  const root = readYaml(text)
  const resources = isFields(root) ? root['resources'] : undefined
  if (!isFields(root) || !Array.isArray(resources)) {
    throw new AssignmentError('it has no list of resources: write {resources: [{"@type": …ClusterLoadAssignment, …}]}')
  }
  const endpoints = new Map<string, FileEndpoint>()
  const names: string[] = []
  for (const [index, resource] of resources.entries()) {
    const { at, value } = unwrapped(resource, ['resources', index])
    const name = isFields(value) ? value[nameIn(value, 'cluster_name')] : undefined
    if (typeof name !== 'string' || !isFields(value)) continue
    names.push(name)
    if (name !== cluster) continue
    for (const endpoint of endpointsOf(value, at)) {
      const address = formatAddress(endpoint)
      if (endpoints.has(address)) throw new AssignmentError(`cluster ${cluster} has ${address} twice: keep one of them`)
      endpoints.set(address, endpoint)
    }
  }
  if (!names.includes(cluster)) {
    throw new AssignmentError(`it has no cluster ${cluster}; it has ${names.length === 0 ? 'none at all' : names.join(', ')}`)
  }
  return { endpoints, versionField: nameIn(root, 'version_info') }
}

/** The assignment of a resource. A resource may be wrapped in a `Resource` with a name. */
function unwrapped(resource: unknown, at: Path): { at: Path; value: unknown } {
  if (!isFields(resource) || !isFields(resource['resource'])) return { at, value: resource }
  return { at: [...at, 'resource'], value: resource['resource'] }
}

function* endpointsOf(assignment: Fields, at: Path): Generator<FileEndpoint> {
  for (const locality of listIn(assignment, 'endpoints', at)) {
    for (const { value, path } of listIn(locality.value, 'lb_endpoints', locality.path)) {
      const address = addressOf(value)
      if (address === undefined) continue
      const statusField = nameIn(value, 'health_status')
      const status = value[statusField]
      const weight = weightOf(value[nameIn(value, 'load_balancing_weight')])
      const written = typeof status === 'string' || typeof status === 'number' ? status : null
      yield {
        ...address,
        path,
        statusField,
        status: written,
        state: stateOf(written),
        ...(weight === undefined ? {} : { weight }),
      }
    }
  }
}

function listIn(fields: Fields, field: string, at: Path): { value: Fields; path: Path }[] {
  const name = nameIn(fields, field)
  const list = fields[name]
  if (!Array.isArray(list)) return []
  return list.flatMap((value: unknown, index) => (isFields(value) ? [{ value, path: [...at, name, index] }] : []))
}

/** The address of an endpoint. Undefined for a pipe, and for an address without a port number. */
function addressOf(endpoint: Fields): Address | undefined {
  const socket = ['endpoint', 'address', 'socket_address'].reduce<unknown>(
    (value, field) => (isFields(value) ? value[nameIn(value, field)] : undefined),
    endpoint,
  )
  if (!isFields(socket)) return undefined
  const address = socket['address']
  const port = Number(socket[nameIn(socket, 'port_value')])
  return typeof address === 'string' && address !== '' && port > 0 ? { address, port } : undefined
}

function weightOf(written: unknown): number | undefined {
  const weight = typeof written === 'string' ? Number(written) : written
  return typeof weight === 'number' && Number.isFinite(weight) ? weight : undefined
}

/** The spelling of the field in this map. */
function nameIn(fields: Fields, field: string): string {
  const camel = field.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return camel in fields && !(field in fields) ? camel : field
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
