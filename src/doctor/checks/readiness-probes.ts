import { selects } from '../../endpoints/pod-membership.ts'
import { type Check, needing } from '../check.ts'
import type { Gathered } from '../gathered.ts'
import type { Pod, Service } from '../objects.ts'
import { hasSelector } from '../slices-of.ts'
import { isAlive } from '../workload-of.ts'

/** What gets requests says when it can take them. */
export const readinessProbes: Check = {
  name: 'readiness-probes',
  examine: (gathered) =>
    needing(gathered, ['pods', 'services'], ({ pods, services }) => {
      const balanced = balancersByPod(gathered)
      const workloadOf = (pod: Pod): string => gathered.workloads.get(pod.metadata.uid) ?? `pod/${pod.metadata.name}`
      const inNamespace = Map.groupBy(services.filter(asksForReadiness), ({ metadata }) => metadata.namespace)
      const unprobed = pods
        .filter((pod) => isAlive(pod) && !isProbed(pod))
        .map((pod) => ({
          pod,
          behind: [...(balanced.get(pod.metadata.uid) ?? []), ...servicesOf(pod, inNamespace.get(pod.metadata.namespace) ?? [])],
        }))
        .filter(({ behind }) => behind.length > 0)
      const byWorkload = Map.groupBy(unprobed, ({ pod }) => `${pod.metadata.namespace}/${workloadOf(pod)}`)
      return Array.from(byWorkload.values(), (same) => {
        const { pod } = same[0]!
        return {
          code: 'no-readiness-probe' as const,
          namespace: pod.metadata.namespace,
          workload: workloadOf(pod),
          pods: same.length,
          containers: pod.spec.containers.map(({ name }) => name),
          behind: [...new Set(same.flatMap(({ behind }) => behind))],
        }
      })
    }),
}

/** A readiness gate is somebody's word for the pod, as a probe is. */
function isProbed({ spec: { containers, initContainers = [], readinessGates = [] } }: Pod): boolean {
  const sidecars = initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always')
  return readinessGates.length > 0 || [...containers, ...sidecars].some(({ readinessProbe }) => readinessProbe !== undefined)
}

/** One that publishes what is not ready does not. */
function asksForReadiness(service: Service): boolean {
  return service.spec.publishNotReadyAddresses !== true && hasSelector(service)
}

function servicesOf(pod: Pod, services: readonly Service[]): string[] {
  return services.filter((service) => selects(service, pod)).map(({ metadata }) => `service/${metadata.name}`)
}

/** The load balancers that have an entry of a pod, by its UID. */
export function balancersByPod({ balancers = [] }: Gathered): ReadonlyMap<string, string[]> {
  const places = balancers.flatMap(({ name, pods }) =>
    pods.flatMap(({ uid, entries }) => (entries === undefined ? [] : [{ uid, name }])),
  )
  return new Map(
    Array.from(
      Map.groupBy(places, ({ uid }) => uid),
      ([uid, some]) => [uid, some.map(({ name }) => name)],
    ),
  )
}
