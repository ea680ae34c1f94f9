/** The servers of one HTTP service in a file of Traefik's file provider. */
import { formatAddress } from '../address.ts'
import type { Address } from '../contract.ts'
import { openYaml, type OpenYaml, type Path, readYaml, YamlError } from '../document/edit-yaml.ts'
import { serverAddress } from './server-address.ts'

/** A server as the file has it. */
export interface FileServer extends Address {
  /** Its map in the file. */
  path: Path
  /** The name of the field for its weight, in the capitals and small letters that the file has. */
  weightField: string
  /** Null where none is set, which is 1. */
  weight: number | null
  /** The weight as it is written, quotes included; null where it is not. */
  written: string | null
}

/** Of a file that cannot be used as it is. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
}

/** By `formatAddress`. */
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

/** Of a weight as it is written; null for none. */
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

/** A value, and where it is in the file. */
interface Place {
  path: Path
  value: unknown
}

type Fields = Readonly<Record<string, unknown>>

/** Traefik takes the names of fields in capitals and small letters, and one of them where a map has two. */
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

/** YAML 1.1, which Traefik reads, has the fields of this one in the map itself, where they are not there already. */
const MERGE = '<<'

function mergedNames(merged: unknown): string[] {
  if (Array.isArray(merged)) return merged.flatMap(mergedNames)
  return isFields(merged) ? [...Object.keys(merged), ...mergedNames(merged[MERGE])] : []
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Undefined for what has no URL with a host. */
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

/** Traefik takes a number in quotes for that number, and refuses the whole file for what is none. */
function weightOf(value: unknown, where: string): number | null {
  if (value === null) return null
  const weight = typeof value === 'string' && /^[+-]?\d+$/.test(value) ? Number(value) : value
  if (Number.isSafeInteger(weight)) return weight as number
  throw new ServiceError(`${where} is ${JSON.stringify(value)}: write a whole number, in decimal digits`)
}
