import type { PodView } from '../pods/glossary.ts'
import type { leftOut } from './ledgers/unsettled.ts'
import type { ReasonOf } from '../reasons/reason.ts'
import { awaitsPerson } from './status/pod-advice.ts'

type Left = Awaited<ReturnType<typeof leftOut>>

/**
 * What a person has to do before a run can settle it, as `sluice status` says it. Found by a fresh user: status asked for him, and the
 * plan said that the run would settle it first; the run ended with 8 once more.
 */
export function abandonedReasons(
  left: Left,
  pods: readonly Pick<PodView, 'name' | 'ip'>[],
  namespace: string,
): ReasonOf<'awaits-person'>[] {
  const byPod = Map.groupBy(
    left.filter(({ isAbandoned }) => isAbandoned),
    ({ uid }) => uid,
  )
  return [...byPod.values()].map((some) => {
    const { pod } = some[0]!
    const nowAt = pods.find(({ name }) => name === pod)?.ip
    const targets = some.map(({ target }) => target)
    return awaitsPerson(pod, targets, nowAt, namespace)
  })
}
