import type { Service } from '../endpoints/objects.ts'
import { selects } from '../endpoints/pod-membership.ts'
import { slicesOf } from './compare-slices.ts'
import { asPod } from './explain-pod.ts'
import type { ObservedPod, ObservedSlice } from './observed.ts'
import { indexSlices } from './slice-index.ts'

/** The pods that a Service selects, and those that its slices have. */
export function servicePods(service: Service, pods: readonly ObservedPod[], slices: readonly ObservedSlice[]): ObservedPod[] {
  const index = indexSlices(slicesOf(service, slices))
  const hasSelector = Object.keys(service.spec.selector ?? {}).length > 0
  return pods.filter((pod) => (hasSelector && selects(service, asPod(pod))) || index.of(pod).length > 0)
}
