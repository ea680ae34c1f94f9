import type { EndpointPort } from '../../endpoints/objects.ts'
import { portsKey as keyOf } from '../../endpoints/slice-groups.ts'

const known = new WeakMap<readonly EndpointPort[], string>()

/** As `portsKey` of slice groups. All endpoints of a slice have the same list of ports, whose key is made once. */
export function portsKey(ports: readonly EndpointPort[]): string {
  let key = known.get(ports)
  if (key === undefined) {
    key = keyOf(ports)
    known.set(ports, key)
  }
  return key
}
