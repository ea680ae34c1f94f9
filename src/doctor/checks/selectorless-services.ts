import { hasSelector } from '../../endpoints/selectors.ts'
import { addressesIn, serviceKey, slicesByService } from '../../endpoints/stored-slices.ts'
import { type Check, needing, ofServices } from '../check.ts'

/** A Service without a selector has endpoints that another writer made. */
export const selectorlessServices: Check = {
  name: 'selectorless-services',
  examine: (gathered) =>
    ofServices(
      gathered,
      needing(gathered, ['services', 'slices'], ({ services, slices }) => {
        const bySlice = slicesByService(slices)
        return services
          .filter((service) => service.spec.type !== 'ExternalName' && !hasSelector(service))
          .filter((service) => (bySlice.get(serviceKey(service)) ?? []).every((slice) => addressesIn(slice).length === 0))
          .map(({ metadata: { namespace, name }, spec: { type = 'ClusterIP' } }) => ({
            code: 'selectorless-without-endpoints' as const,
            namespace,
            service: name,
            type,
          }))
      }),
    ),
}
