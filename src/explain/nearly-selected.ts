import type { Pod, Service } from '../endpoints/objects.ts'
import { lackedLabels } from '../endpoints/selectors.ts'
import type { ReasonOf } from '../reasons/reason.ts'

type Nearly = ReasonOf<'selector-nearly'>

/** The pods that have the most labels of the selector without having all, grouped by the labels that they lack. */
export function nearlySelected(service: Service, pods: readonly Pod[]): Nearly[] {
  const wanted = Object.keys(service.spec.selector ?? {}).length
  const near = pods
    .map((pod) => ({ pod, labels: lackedLabels(service, pod) }))
    .filter(({ labels }) => labels.length > 0 && labels.length < wanted)
  const fewest = fewestOf(near)
  const byLack = Map.groupBy(
    near.filter(({ labels }) => labels.length === fewest),
    ({ labels }) => JSON.stringify(labels),
  )
  return Array.from(byLack.values(), (some) => ({
    code: 'selector-nearly',
    pods: some.map(({ pod }) => pod.metadata.name),
    labels: some[0]!.labels,
  }))
}

/** The Services whose selector the pod misses by the fewest labels, while it has other labels of the selector. */
export function nearestServices(pod: Pod, services: readonly Service[]): { service: string; labels: Nearly['labels'] }[] {
  const near = services
    .map((service) => ({ service, labels: lackedLabels(service, pod) }))
    .filter(({ service, labels }) => labels.length > 0 && labels.length < Object.keys(service.spec.selector ?? {}).length)
  const fewest = fewestOf(near)
  return near
    .filter(({ labels }) => labels.length === fewest)
    .map(({ service, labels }) => ({ service: service.metadata.name, labels }))
}

/** The list may be too long to be passed to `Math.min` as arguments. */
function fewestOf(near: readonly { labels: Nearly['labels'] }[]): number {
  return near.reduce((fewest, { labels }) => Math.min(fewest, labels.length), Infinity)
}
