import { selects } from '../../endpoints/pod-membership.ts'
import { type Check, needing, together } from '../check.ts'
import type { Finding } from '../findings.ts'
import type { Endpoints, EndpointSlice, ManagedFields, Pod, Service } from '../objects.ts'
import { addressesIn, hasSelector, isByController, managerOf, serviceKey, slicesByService } from '../slices-of.ts'

/** Programs that the endpoint controllers run in, as managedFields name them. */
const CONTROLLERS: ReadonlySet<string> = new Set([
  'kube-controller-manager',
  'endpoint-controller',
  'hyperkube',
  'k0s',
  'k3s',
  'kubelite',
])

/** A Service with a selector has endpoints of its controller alone. */
export const foreignEndpoints: Check = {
  name: 'foreign-endpoints',
  examine: (gathered) =>
    together(
      needing(gathered, ['services', 'slices'], ({ services, slices }) => {
        const bySlice = slicesByService(slices)
        return services
          .filter(hasSelector)
          .flatMap((service) => (bySlice.get(serviceKey(service)) ?? []).flatMap((slice) => foreignSlice(service, slice)))
      }),
      needing(gathered, ['services', 'endpoints', 'pods'], ({ services, endpoints, pods }) => {
        const byService = new Map(endpoints.map((one) => [`${one.metadata.namespace}/${one.metadata.name}`, one]))
        return services.filter(hasSelector).flatMap((service) => {
          const own = byService.get(serviceKey(service))
          return own === undefined ? [] : byHand(service, own, pods)
        })
      }),
    ),
}

function foreignSlice({ metadata: { namespace, name: service } }: Service, slice: EndpointSlice): Finding[] {
  const addresses = addressesIn(slice)
  if (isByController(slice) || addresses.length === 0) return []
  return [{ code: 'foreign-slice', namespace, service, slice: slice.metadata.name, managedBy: managerOf(slice), addresses }]
}

/** Addresses that no pod of the selector has, under a writer that is not the controller. */
function byHand(
  service: Service,
  { metadata: { managedFields = [] }, subsets = [] }: Endpoints,
  pods: readonly Pod[],
): Finding[] {
  const writer = managedFields.find(({ manager = '', fieldsV1 = {} }) => 'f:subsets' in fieldsV1 && !CONTROLLERS.has(manager))
  if (writer === undefined) return []
  const { namespace, name } = service.metadata
  const own = new Set(
    pods
      .filter((pod) => pod.metadata.namespace === namespace && selects(service, pod))
      .flatMap(({ status }) => (status?.podIPs ?? []).map(({ ip }) => ip)),
  )
  const all = subsets.flatMap(({ addresses = [], notReadyAddresses = [] }) => [...addresses, ...notReadyAddresses])
  const foreign = all.flatMap(({ ip }) => (ip === undefined || own.has(ip) ? [] : [ip]))
  return foreign.length === 0
    ? []
    : [{ code: 'endpoints-by-hand', namespace, service: name, ...writerOf(writer), addresses: foreign }]
}

function writerOf({ manager = '', time }: ManagedFields): { by: string; at?: string } {
  return { by: manager, ...(time === undefined ? {} : { at: time }) }
}
