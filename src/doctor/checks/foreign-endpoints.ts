import { hasSelector, selects } from '../../endpoints/selectors.ts'
import type { StoredEndpoints, StoredSlice } from '../../endpoints/stored.ts'
import { addressesIn, isByController, managerOf, serviceKey, slicesByService } from '../../endpoints/stored-slices.ts'
import { ENDPOINTS_CONTROLLER_WRITES, writerOf } from '../../endpoints/writers.ts'
import { type Check, needing, ofServices, together } from '../check.ts'
import type { Finding } from '../findings.ts'
import type { Pod, Service } from '../objects.ts'

/** A Service with a selector has only endpoints that its controller wrote. */
export const foreignEndpoints: Check = {
  name: 'foreign-endpoints',
  examine: (gathered) =>
    ofServices(
      gathered,
      together(
        needing(gathered, ['services', 'slices'], ({ services, slices }) => {
          const bySlice = slicesByService(slices)
          return services
            .filter(hasSelector)
            .flatMap((service) => (bySlice.get(serviceKey(service)) ?? []).flatMap((slice) => foreignSlice(service, slice)))
        }),
        needing(gathered, ['services', 'endpoints', 'pods'], ({ services, endpoints, pods }) => {
          const byService = new Map(endpoints.map((one) => [serviceKey(one), one]))
          return services.filter(hasSelector).flatMap((service) => {
            const own = byService.get(serviceKey(service))
            return own === undefined ? [] : byHand(service, own, pods)
          })
        }),
      ),
    ),
}

function foreignSlice({ metadata: { namespace, name: service } }: Service, slice: StoredSlice): Finding[] {
  const addresses = addressesIn(slice)
  if (isByController(slice) || addresses.length === 0) return []
  return [{ code: 'foreign-slice', namespace, service, slice: slice.metadata.name, managedBy: managerOf(slice) ?? '', addresses }]
}

/** Finds addresses that no selected pod has, where the last writer is not the controller. */
function byHand(
  service: Service,
  { metadata: { managedFields }, subsets = [] }: StoredEndpoints,
  pods: readonly Pod[],
): Finding[] {
  const writer = writerOf(managedFields, ['f:subsets'], ENDPOINTS_CONTROLLER_WRITES)
  if (writer === undefined || writer.is === 'controller-manager') return []
  const { manager: by, at } = writer
  const { namespace, name } = service.metadata
  const own = new Set(
    pods
      .filter((pod) => pod.metadata.namespace === namespace && selects(service, pod))
      .flatMap(({ status }) => (status?.podIPs ?? []).map(({ ip }) => ip)),
  )
  const all = subsets.flatMap(({ addresses = [], notReadyAddresses = [] }) => [...addresses, ...notReadyAddresses])
  const foreign = all.flatMap(({ ip }) => (own.has(ip) ? [] : [ip]))
  return foreign.length === 0
    ? []
    : [{ code: 'endpoints-by-hand', namespace, service: name, by, ...(at === undefined ? {} : { at }), addresses: foreign }]
}
