import { hasSelector } from '../../endpoints/selectors.ts'
import { isByController, serviceKey, slicesByService } from '../../endpoints/stored-slices.ts'
import { controllerRules } from '../../endpoints/controller-rules.ts'
import { endpointsLabelDifferences, sliceLabelDifferences } from '../../endpoints/label-differences.ts'
import { type Check, needing, ofServices, together } from '../check.ts'
import type { FindingOf, LabelDifference } from '../findings.ts'
import type { Service } from '../objects.ts'

type Differ = FindingOf<'endpoints-labels-differ'>

/**
 * The labels of endpoints equal those of their Service, by the comparison of the controller. Where they differ, the controller writes
 * the object at each sync, and changes of pods wait behind the writes of a sync of all Services.
 */
export const endpointsLabels: Check = {
  name: 'endpoints-labels',
  examine(gathered) {
    const { server } = gathered
    const rules = controllerRules(server.ok ? (server.value.minor ?? Infinity) : Infinity)
    return ofServices(
      gathered,
      together(
        needing(gathered, ['services', 'endpoints'], ({ services, endpoints }) => {
          const byService = new Map(endpoints.map((one) => [serviceKey(one), one]))
          return services.filter(hasSelector).flatMap((service) => {
            const own = byService.get(serviceKey(service))?.metadata
            const labels = own === undefined ? [] : endpointsLabelDifferences(service, own.labels ?? {}, rules)
            return differ(service, 'Endpoints', service.metadata.name, labels)
          })
        }),
        needing(gathered, ['services', 'slices'], ({ services, slices }) => {
          const bySlice = slicesByService(slices.filter(isByController))
          return services
            .filter(hasSelector)
            .flatMap((service) =>
              (bySlice.get(serviceKey(service)) ?? []).flatMap(({ metadata: { name, labels = {} } }) =>
                differ(service, 'EndpointSlice', name, sliceLabelDifferences(service, labels)),
              ),
            )
        }),
      ),
    )
  },
}

function differ({ metadata }: Service, object: Differ['object'], name: string, labels: LabelDifference[]): Differ[] {
  if (labels.length === 0) return []
  return [{ code: 'endpoints-labels-differ', namespace: metadata.namespace, service: metadata.name, object, name, labels }]
}
