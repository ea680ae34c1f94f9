import type { Pod, Service } from '../endpoints/objects.ts'
import { lackedLabels } from '../endpoints/selectors.ts'
import type { ReasonOf } from '../reasons/reason.ts'

type Nearly = ReasonOf<'selector-nearly'>

/** Pods that have a part of the labels that the selector wants, where none has all: those that have the most of them, by what they lack. */
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

/** Services whose selector the pod misses by the fewest labels, having others of them. */
export function nearestServices(pod: Pod, services: readonly Service[]): { service: string; labels: Nearly['labels'] }[] {
  const near = services
    .map((service) => ({ service, labels: lackedLabels(service, pod) }))
    .filter(({ service, labels }) => labels.length > 0 && labels.length < Object.keys(service.spec.selector ?? {}).length)
  const fewest = fewestOf(near)
  return near
    .filter(({ labels }) => labels.length === fewest)
    .map(({ service, labels }) => ({ service: service.metadata.name, labels }))
}

/** There may be more of them than a call can have arguments. */
function fewestOf(near: readonly { labels: Nearly['labels'] }[]): number {
  return near.reduce((fewest, { labels }) => Math.min(fewest, labels.length), Infinity)
}
