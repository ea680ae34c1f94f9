import { hasSelector } from '../../endpoints/selectors.ts'
import { isByController, serviceKey, slicesByService } from '../../endpoints/stored-slices.ts'
import { ageOf, oldestOf } from '../ages.ts'
import { type Check, needing, together } from '../check.ts'
import { leaseOfPart } from '../control-plane-lease.ts'

/** The controller creates an EndpointSlice for a Service with a selector well before this age, even an empty one. */
const UNSEEN_MS = 60_000

/** The controller manager works: each Service with a selector has an EndpointSlice, and the Lease is renewed. */
export const controllerManager: Check = {
  name: 'controller-manager',
  examine(gathered) {
    const ageOfService = (createdAt: string | undefined): number => ageOf(createdAt, gathered.nowAt) ?? 0
    return together(
      needing(gathered, ['services', 'slices'], ({ services, slices }) => {
        const made = slicesByService(slices.filter(isByController))
        const unseen = services.filter(
          (service) =>
            hasSelector(service) &&
            service.metadata.deletionTimestamp === undefined &&
            !made.has(serviceKey(service)) &&
            ageOfService(service.metadata.creationTimestamp) > UNSEEN_MS,
        )
        if (unseen.length === 0) return []
        const oldestMs = oldestOf(unseen.map(({ metadata }) => ageOfService(metadata.creationTimestamp)))
        return [{ code: 'services-without-controller', services: unseen.map(serviceKey), oldestMs }]
      }),
      leaseOfPart(gathered, 'kube-controller-manager'),
    )
  },
}
