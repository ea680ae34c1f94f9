import { isReady } from '../../endpoints/readiness.ts'
import { type Check, needing, skippedFor, together, found } from '../check.ts'
import type { Finding, Skip } from '../findings.ts'
import type { BalancerState, Gathered } from '../gathered.ts'
import type { Pod } from '../objects.ts'
import { isSettled } from '../settled.ts'

/** Each server belongs to a pod. Each pod has a server where other pods of its workload have one. */
export const servers: Check = {
  name: 'servers',
  examine(gathered) {
    const { balancers } = gathered
    if (balancers === undefined) return skippedFor({ code: 'no-config' })
    const read = balancers.filter(({ unread }) => unread === undefined)
    const silent = read.filter(({ strays }) => strays === undefined).map(({ name }) => name)
    const unasked = read.flatMap(({ name: loadBalancer, unasked: some = 0 }): Skip[] =>
      some === 0 ? [] : [{ code: 'servers-not-asked', loadBalancer, servers: some }],
    )
    const refused = read.flatMap(({ strays }): Skip[] => (strays === undefined || strays.ok ? [] : [strays.because]))
    return together(
      found(read.flatMap(strayServers)),
      needing(gathered, ['pods'], ({ pods }) => read.flatMap((one) => podsWithout(one, pods, gathered))),
      skippedFor(
        ...refused,
        ...unasked,
        ...(silent.length === 0 ? [] : [{ code: 'no-load-balancer-lists' as const, loadBalancers: silent }]),
      ),
    )
  },
}

function strayServers({ name: loadBalancer, strays }: BalancerState): Finding[] {
  if (strays === undefined || !strays.ok) return []
  return strays.value.map((stray) => ({ code: 'server-without-pod', loadBalancer, ...stray }))
}

/** Compares only workloads that have other pods in the load balancer, because not every pod belongs behind it. */
function podsWithout(
  { name: loadBalancer, pods: balanced }: BalancerState,
  pods: readonly Pod[],
  { workloads, nowAt }: Gathered,
): Finding[] {
  const byUid = new Map(pods.map((pod) => [pod.metadata.uid, pod]))
  const known = balanced.flatMap((one) => {
    const pod = byUid.get(one.uid)
    const workload = workloads.get(one.uid)
    if (pod === undefined || workload === undefined) return []
    return [{ ...one, pod, workload, key: `${pod.metadata.namespace}/${workload}` }]
  })
  const served = Map.groupBy(
    known.filter(({ entries }) => entries !== undefined),
    ({ key }) => key,
  )
  return known.flatMap(({ pod, workload, key, entries, because }): Finding[] => {
    const siblings = served.get(key)?.length ?? 0
    if (entries !== undefined || because === undefined || siblings === 0) return []
    if (!isReady(pod) || !isSettled(pod, nowAt)) return []
    const { namespace, name } = pod.metadata
    return [{ code: 'pod-without-server', loadBalancer, namespace, pod: name, workload, siblings, because }]
  })
}
