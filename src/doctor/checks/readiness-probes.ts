import { hasSelector, selects } from '../../endpoints/selectors.ts'
import { type Check, needing, together } from '../check.ts'
import type { FindingOf } from '../findings.ts'
import type { Gathered } from '../gathered.ts'
import type { Pod, Probe, Service } from '../objects.ts'
import { isAlive } from '../workload-of.ts'

/** Each pod that gets requests reports when it can take them. */
export const readinessProbes: Check = {
  name: 'readiness-probes',
  examine: (gathered) =>
    together(
      needing(gathered, ['pods'], ({ pods }) => slowProbes(gathered, pods)),
      needing(gathered, ['pods', 'services'], ({ pods, services }) => {
        const balanced = balancersByPod(gathered)
        const workloadOf = (pod: Pod): string => gathered.workloads.get(pod.metadata.uid) ?? `pod/${pod.metadata.name}`
        const inNamespace = Map.groupBy(services.filter(asksForReadiness), ({ metadata }) => metadata.namespace)
        const unprobed = pods
          .filter((pod) => isAlive(pod) && !isProbed(pod))
          .map((pod) => ({
            pod,
            behind: [
              ...(balanced.get(pod.metadata.uid) ?? []),
              ...servicesOf(pod, inNamespace.get(pod.metadata.namespace) ?? []),
            ],
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
    ),
}

/** The defaults of the API server. */
const PERIOD_SECONDS = 10
const FAILURES = 3

/** Finds the slowest container of each workload in each load balancer whose health check is quicker. */
function slowProbes({ balancers = [], workloads }: Gathered, pods: readonly Pod[]): FindingOf<'readiness-probe-slow'>[] {
  const byUid = new Map(pods.map((pod) => [pod.metadata.uid, pod]))
  return balancers.flatMap(({ name: loadBalancer, healthCheck, pods: balanced }) => {
    if (healthCheck === undefined) return []
    const healthMs = healthCheck.everyMs * healthCheck.failures
    const slow = balanced.flatMap(({ uid, entries }) => {
      const pod = entries === undefined ? undefined : byUid.get(uid)
      const workload = workloads.get(uid)
      if (pod === undefined || workload === undefined) return []
      const { namespace } = pod.metadata
      return pod.spec.containers.flatMap(({ name: container, readinessProbe }) => {
        const readinessMs = readinessProbe === undefined ? 0 : toNotReadyMs(readinessProbe)
        return readinessMs > healthMs ? [{ namespace, workload, container, readinessMs }] : []
      })
    })
    const byWorkload = Map.groupBy(slow, ({ namespace, workload }) => `${namespace}/${workload}`)
    return Array.from(byWorkload.values(), (same) => {
      const [slowest] = same.toSorted((a, b) => b.readinessMs - a.readinessMs)
      return { code: 'readiness-probe-slow' as const, ...slowest!, loadBalancer, healthMs }
    })
  })
}

function toNotReadyMs({ periodSeconds = PERIOD_SECONDS, failureThreshold = FAILURES }: Probe): number {
  return periodSeconds * failureThreshold * 1_000
}

/** A readiness gate reports the readiness of a pod as a probe does. */
function isProbed({ spec: { containers, initContainers = [], readinessGates = [] } }: Pod): boolean {
  const sidecars = initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always')
  return readinessGates.length > 0 || [...containers, ...sidecars].some(({ readinessProbe }) => readinessProbe !== undefined)
}

/** A Service that publishes addresses that are not ready does not depend on readiness. */
function asksForReadiness(service: Service): boolean {
  return service.spec.publishNotReadyAddresses !== true && hasSelector(service)
}

function servicesOf(pod: Pod, services: readonly Service[]): string[] {
  return services.filter((service) => selects(service, pod)).map(({ metadata }) => `service/${metadata.name}`)
}

/** The names of the load balancers that have an entry of a pod, by the UID of the pod. */
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
