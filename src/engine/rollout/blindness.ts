import { displayName } from '../../pods/workload-id.ts'
import type { ReasonOf } from '../../reasons/reason.ts'
import type { Workload } from '../../workloads/workload.ts'
import type { PodStore } from '../../observation/pod-store.ts'
import type { Beside } from './beside.ts'

interface Watched {
  store: Pick<PodStore, 'isCurrent' | 'isBroken'>
  beside: Pick<Beside, 'isCurrent' | 'isBroken'>
  workloads: readonly Pick<Workload, 'ref' | 'isCurrent' | 'isBroken'>[]
}

export interface Blindness {
  reason: ReasonOf<'cannot-watch' | 'looks-anew'>
  /** False while all objects are read anew, as at each deadline. That takes a moment and is not reported. */
  isBroken: boolean
}

/** The reason why the observation is not current, so that no pod may start. Undefined where it is. */
export function blindness({ store, beside, workloads }: Watched): Blindness | undefined {
  if (store.isBroken() || beside.isBroken()) return { reason: { code: 'cannot-watch' }, isBroken: true }
  if (!store.isCurrent() || !beside.isCurrent()) return { reason: { code: 'looks-anew' }, isBroken: false }
  // A workload that is not watched may have been scaled up, so that its missing pods are unknown.
  const unseen = workloads.find((workload) => !workload.isCurrent())
  if (unseen === undefined) return undefined
  const isBroken = unseen.isBroken()
  return {
    reason: { code: isBroken ? 'cannot-watch' : 'looks-anew', workload: displayName(unseen.ref) },
    isBroken,
  }
}
