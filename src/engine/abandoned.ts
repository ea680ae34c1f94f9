import type { PodView } from '../pods/glossary.ts'
import type { leftOut } from './ledgers/unsettled.ts'
import type { ReasonOf } from '../reasons/reason.ts'
import { awaitsPerson } from './status/pod-advice.ts'

type Left = Awaited<ReturnType<typeof leftOut>>

/**
 * The entries that a person must settle before a run can, as `sluice status` tells them. Without these warnings, a plan would promise a
 * settlement that ends with exit 8 again.
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
