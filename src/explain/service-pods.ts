import type { Service } from '../endpoints/objects.ts'
import { hasSelector, selects } from '../endpoints/selectors.ts'
import { slicesOf } from './compare-slices.ts'
import type { StoredPod, StoredSlice } from '../endpoints/stored.ts'
import { indexSlices } from './slice-index.ts'

/** The pods that a Service selects, and those that its slices have. */
export function servicePods(service: Service, pods: readonly StoredPod[], slices: readonly StoredSlice[]): StoredPod[] {
  const index = indexSlices(slicesOf(service, slices))
  return pods.filter((pod) => (hasSelector(service) && selects(service, pod)) || index.of(pod).length > 0)
}
