/** Reads the servers of one HTTP service in a file of Traefik's file provider. */
import { formatAddress } from '../address.ts'
import type { Address } from '../contract.ts'
import { openYaml, type OpenYaml, type Path, readYaml, YamlError } from '../document/edit-yaml.ts'
import { serverAddress } from './server-address.ts'

/** A server in the file. */
export interface FileServer extends Address {
  /** The path of its map in the file. */
  path: Path
  /** The name of the weight field, in the upper and lower case of the file. */
  weightField: string
  /** The weight. Null: none is set, and Traefik uses 1. */
  weight: number | null
  /** The weight as written, including quotes. Null if there is none. */
  written: string | null
}

/** The error for a file that the adapter cannot use. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
}

/** The servers by `formatAddress`. */
export function readServers(text: string, service: string): ReadonlyMap<string, FileServer> {
  const yaml = open(text)
  const services = stepInto(stepInto({ path: [], value: yaml.value }, 'http'), 'services')
  const found = stepInto(services, service, (name) => name === service)
  if (found === undefined || !isFields(found.value)) {
    const names = isFields(services?.value) ? Object.keys(services.value) : []
    throw new ServiceError(`it has no http.services.${service}; it has ${names.length === 0 ? 'none at all' : names.join(', ')}`)
  }
  const list = stepInto(stepInto(found, 'loadBalancer'), 'servers')
  if (list === undefined || !Array.isArray(list.value)) {
    const kinds = Object.keys(found.value).join(', ')
    throw new ServiceError(
      `http.services.${service} has no list loadBalancer.servers, but ${kinds || 'nothing'}: name the service that has the servers`,
    )
  }
  const servers = new Map<string, FileServer>()
  for (const [index, value] of list.value.entries()) {
    const server = serverOf({ path: [...list.path, index], value }, yaml)
    if (server === undefined) continue
    const address = formatAddress(server)
    if (servers.has(address)) throw new ServiceError(`http.services.${service} has ${address} twice: keep one of them`)
    servers.set(address, server)
  }
  return servers
}

/** The number of a written weight. Null if there is none. */
export function readWeight(written: string | null): number | null {
  return written === null ? null : weightOf(readYaml(written), 'the former weight')
}

function open(text: string): OpenYaml {
  try {
    return openYaml(text)
  } catch (error) {
    if (!(error instanceof YamlError) || !text.includes('{{')) throw error
    throw new ServiceError('it has a Go template, and is no YAML as it is: write the service into a file without one')
  }
}

/** A value with its path in the file. */
interface Place {
  path: Path
  value: unknown
}

type Fields = Readonly<Record<string, unknown>>

/**
 * The place of a field. Traefik ignores upper and lower case in field names. Throws if a map has the field twice, because Traefik uses only
 * one of the two.
 */
function stepInto(
  place: Place | undefined,
  field: string,
  isIt = (name: string): boolean => name.toLowerCase() === field.toLowerCase(),
): Place | undefined {
  if (place === undefined || !isFields(place.value)) return undefined
  const { path, value } = place
  const own = Object.keys(value).filter(isIt)
  const [name, ...others] = new Set([...own, ...mergedNames(value[MERGE]).filter(isIt)])
  if (name === undefined) return undefined
  const where = path.join('.') || 'it'
  if (others.length > 0) throw new ServiceError(`${where} has ${[name, ...others].join(' and ')}: keep one of them`)
  if (own.length === 0) throw new ServiceError(`${where} has ${name} from a merge key (${MERGE}): write it out where it belongs`)
  return { path: [...path, name], value: value[name] }
}

/** The merge key of YAML 1.1, which Traefik reads: its fields are added to the map if the map does not have them. */
const MERGE = '<<'

function mergedNames(merged: unknown): string[] {
  if (Array.isArray(merged)) return merged.flatMap(mergedNames)
  return isFields(merged) ? [...Object.keys(merged), ...mergedNames(merged[MERGE])] : []
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The server at a place. Undefined without a URL with a host. */
function serverOf(place: Place, yaml: OpenYaml): FileServer | undefined {
  const url = stepInto(place, 'url')?.value
  const address = typeof url === 'string' ? serverAddress(url) : undefined
  if (address === undefined) return undefined
  const weight = stepInto(place, 'weight')
  const weightField = String(weight?.path.at(-1) ?? 'weight')
  return {
    ...address,
    path: place.path,
    weightField,
    weight: weight === undefined ? null : weightOf(weight.value, weight.path.join('.')),
    written: yaml.writingOf(place.path, weightField) ?? null,
  }
}

/** The weight as Traefik reads it. Traefik accepts a number in quotes, and refuses the complete file if a weight is not a number. */
function weightOf(value: unknown, where: string): number | null {
  if (value === null) return null
  const weight = typeof value === 'string' && /^[+-]?\d+$/.test(value) ? Number(value) : value
  if (Number.isSafeInteger(weight)) return weight as number
  throw new ServiceError(`${where} is ${JSON.stringify(value)}: write a whole number, in decimal digits`)
}
