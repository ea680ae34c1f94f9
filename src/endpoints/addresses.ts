import type { ControllerRules } from './controller-rules.ts'
import type { AddressType, Pod, Service } from './objects.ts'

/** The address types of the slices of a Service. The first is that of the Endpoints. */
export function addressTypesOf({ spec: { ipFamilies = [], clusterIP = '' } }: Service): readonly AddressType[] {
  if (ipFamilies.length > 0) return ipFamilies
  if (clusterIP !== '' && clusterIP !== 'None') return [typeOf(clusterIP)]
  return ['IPv4', 'IPv6']
}

/** The address type of the Endpoints. A headless Service without IP families takes it from the pod. */
export function endpointsTypeOf(service: Service, pod: Pod): AddressType {
  const { ipFamilies = [], clusterIP = '' } = service.spec
  if (ipFamilies.length === 0 && (clusterIP === '' || clusterIP === 'None')) return typeOf(pod.status?.podIP ?? '')
  return addressTypesOf(service)[0]!
}

/** `podIP` alone counts as an address, although endpoints are made from `podIPs`. The API server sets both. */
export function hasAddress({ status }: Pod): boolean {
  return Boolean(status?.podIP) || (status?.podIPs ?? []).length > 0
}

export function addressesOf({ status }: Pod, type: AddressType, { canonicalAddresses }: ControllerRules): string[] {
  const all = (status?.podIPs ?? []).map(({ ip = '' }) => ip)
  return all.filter((ip) => typeOf(ip) === type).map((ip) => (canonicalAddresses ? canonical(ip) : ip))
}

export function typesOf({ status }: Pod): AddressType[] {
  return [...new Set((status?.podIPs ?? []).map(({ ip = '' }) => typeOf(ip)))]
}

/** Go treats an IPv4-mapped IPv6 address as an IPv4 address. */
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

function typeOf(ip: string): AddressType {
  return ip.includes(':') && !MAPPED.test(ip) ? 'IPv6' : 'IPv4'
}

function canonical(ip: string): string {
  if (typeOf(ip) === 'IPv6') return new URL(`http://[${ip}]`).hostname.slice(1, -1)
  const [dotted] = [MAPPED.exec(ip)?.[1] ?? ip]
  return dotted.split('.').map(Number).join('.')
}
