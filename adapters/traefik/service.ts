/** The servers of one HTTP service in a file of Traefik's file provider. */
import { formatAddress } from '../address.ts'
import type { Address } from '../contract.ts'
import { type Path, readYaml, YamlError } from '../document/edit-yaml.ts'

/** A server as the file has it. */
export interface FileServer extends Address {
  /** Its map in the file. */
  path: Path
  /** As it is written: Traefik's API goes by it. */
  url: string
  /** As it is written; null where it is not, which is 1. */
  weight: number | null
}

/** Of a file that cannot be used as it is. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
}

/** By `formatAddress`. */
export function readServers(text: string, service: string): ReadonlyMap<string, FileServer> {
  const services = fieldsIn(fieldsIn(read(text), 'http'), 'services')
  const found = fieldsIn(services, service)
  if (found === undefined) {
    const names = Object.keys(services ?? {})
    throw new ServiceError(`it has no http.services.${service}; it has ${names.length === 0 ? 'none at all' : names.join(', ')}`)
  }
  const list = fieldsIn(found, 'loadBalancer')?.['servers']
  if (!Array.isArray(list)) {
    const kinds = Object.keys(found).join(', ')
    throw new ServiceError(
      `http.services.${service} has no list loadBalancer.servers, but ${kinds || 'nothing'}: name the service that has the servers`,
    )
  }
  const servers = new Map<string, FileServer>()
  for (const [index, fields] of list.entries()) {
    const server = serverOf(fields, ['http', 'services', service, 'loadBalancer', 'servers', index])
    if (server === undefined) continue
    const address = formatAddress(server)
    if (servers.has(address)) throw new ServiceError(`http.services.${service} has ${address} twice: keep one of them`)
    servers.set(address, server)
  }
  return servers
}

function read(text: string): unknown {
  try {
    return readYaml(text)
  } catch (error) {
    if (!(error instanceof YamlError) || !text.includes('{{')) throw error
    throw new ServiceError('it has a Go template, and is no YAML as it is: write the service into a file without one')
  }
}

type Fields = Readonly<Record<string, unknown>>

function fieldsIn(value: unknown, field: string): Fields | undefined {
  const inner = isFields(value) && Object.hasOwn(value, field) ? value[field] : undefined
  return isFields(inner) ? inner : undefined
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Undefined for what has no URL with a host. */
function serverOf(fields: unknown, path: Path): FileServer | undefined {
  if (!isFields(fields)) return undefined
  const { url, weight } = fields
  if (typeof url !== 'string' || !URL.canParse(url)) return undefined
  const { protocol, hostname, port } = new URL(url)
  if (hostname === '') return undefined
  return {
    path,
    url,
    address: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port) || (protocol === 'https:' ? 443 : 80),
    weight: typeof weight === 'number' ? weight : null,
  }
}
