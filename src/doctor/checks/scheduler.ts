import { ageOf, oldestOf } from '../ages.ts'
import { type Check, needing, together } from '../check.ts'
import { leaseOfPart } from '../control-plane-lease.ts'
import type { Pod } from '../objects.ts'
import { isAlive } from '../workload-of.ts'

/** A scheduler that works has given each pod a node or a condition well before this age. */
const UNSEEN_MS = 60_000
const DEFAULT_SCHEDULER = 'default-scheduler'

/** The scheduler works: it has looked at each pod, and its Lease is renewed. */
export const scheduler: Check = {
  name: 'scheduler',
  examine: (gathered) =>
    together(
      needing(gathered, ['pods'], ({ pods }) => {
        const unseen = pods.filter((pod) => isUnseen(pod, gathered.nowAt))
        if (unseen.length === 0) return []
        const ages = unseen.map(({ metadata }) => ageOf(metadata.creationTimestamp, gathered.nowAt) ?? 0)
        const names = unseen.map(({ metadata: { namespace, name } }) => `${namespace}/${name}`)
        return [{ code: 'pods-without-scheduler', pods: names, oldestMs: oldestOf(ages) }]
      }),
      leaseOfPart(gathered, 'kube-scheduler'),
    ),
}

function isUnseen(pod: Pod, nowAt: number): boolean {
  const { nodeName, schedulerName = DEFAULT_SCHEDULER, schedulingGates = [] } = pod.spec
  const isScheduled = (pod.status?.conditions ?? []).some(({ type }) => type === 'PodScheduled')
  return (
    isAlive(pod) &&
    !nodeName &&
    !isScheduled &&
    schedulerName === DEFAULT_SCHEDULER &&
    schedulingGates.length === 0 &&
    (ageOf(pod.metadata.creationTimestamp, nowAt) ?? 0) > UNSEEN_MS
  )
}
