import type { ControllerRules } from '../endpoints/controller-rules.ts'
import type { Node, Pod, Service } from '../endpoints/objects.ts'
import { serviceEndpoints } from '../endpoints/service-endpoints.ts'
import type { EndpointObjectKind, SeenAddress } from './events.ts'

/** The addresses of one pod in the endpoints of one Service, with their conditions, as a text for comparison. Empty without addresses. */
export type Standing = Readonly<Record<EndpointObjectKind, string>>

export const NO_STANDING: Standing = { EndpointSlice: '', Endpoints: '' }

/** Returns the standing that the controllers give the pod in the Service. Other pods do not matter, unless Endpoints are truncated. */
export function wantedStanding(service: Service, pod: Pod, node: Node | undefined, rules: ControllerRules): Standing {
  const { made, pods } = serviceEndpoints({ service, pods: [pod], nodes: node === undefined ? [] : [node], rules })
  if (made === undefined) return NO_STANDING
  const inSlices = (pods[0]?.slices ?? []).flatMap(({ addresses, conditions }) =>
    addresses.map((address) => ({ address, ...conditions })),
  )
  const inEndpoints = made.endpoints.subsets.flatMap(({ addresses, notReadyAddresses }) => [
    ...addresses.map(({ ip }) => ({ address: ip, ready: true })),
    ...notReadyAddresses.map(({ ip }) => ({ address: ip, ready: false })),
  ])
  return { EndpointSlice: standing(inSlices), Endpoints: standing(inEndpoints) }
}

export function standing(addresses: readonly SeenAddress[]): string {
  const texts = addresses.map(
    ({ address, ready, serving = false, terminating = false }) =>
      `${address} ${ready ? 'r' : ''}${serving ? 's' : ''}${terminating ? 't' : ''}`,
  )
  return [...new Set(texts)].sort().join()
}
