import { isReady } from '../../endpoints/readiness.ts'
import { type Check, needing, skippedFor } from '../check.ts'
import type { Finding } from '../findings.ts'
import type { BalancerState } from '../gathered.ts'
import type { Pod } from '../objects.ts'
import { isSettled } from '../settled.ts'

/** The load balancers agree with the readiness of each pod. */
export const health: Check = {
  name: 'health',
  examine(gathered) {
    const { balancers } = gathered
    if (balancers === undefined) return skippedFor({ code: 'no-config' })
    return needing(gathered, ['pods'], ({ pods }) => {
      const byUid = new Map(pods.map((pod) => [pod.metadata.uid, pod]))
      return balancers.flatMap((one) => disagreements(one, byUid, gathered.nowAt))
    })
  },
}

/** Compares only entries in rotation. An entry that an operator has taken out says nothing about the health of its pod. */
function disagreements({ name: loadBalancer, pods }: BalancerState, byUid: ReadonlyMap<string, Pod>, nowAt: number): Finding[] {
  return pods.flatMap(({ uid, entries = [] }) => {
    const pod = byUid.get(uid)
    if (pod === undefined || !isSettled(pod, nowAt)) return []
    return entries.flatMap(({ target, observation: { admin, routable, detail } }): Finding[] => {
      if (admin !== 'in' || routable === isReady(pod)) return []
      const { namespace, name } = pod.metadata
      const entry = { loadBalancer, target, namespace, pod: name, ...(detail === undefined ? {} : { said: detail }) }
      return [{ code: routable ? 'server-of-unready-pod' : 'server-unhealthy', ...entry }]
    })
  })
}
