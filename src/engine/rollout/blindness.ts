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
  /** False while all is observed anew, as at each deadline: a moment, of which nobody has to hear. */
  isBroken: boolean
}

/** What is not known of now, so that no pod may start on it; undefined where all is. */
export function blindness({ store, beside, workloads }: Watched): Blindness | undefined {
  if (store.isBroken() || beside.isBroken()) return { reason: { code: 'cannot-watch' }, isBroken: true }
  if (!store.isCurrent() || !beside.isCurrent()) return { reason: { code: 'looks-anew' }, isBroken: false }
  // Found by simulation (harsh seed 9185108): it had been scaled up again, which nobody knew, and the pod that it lacked was not missed.
  const unseen = workloads.find((workload) => !workload.isCurrent())
  if (unseen === undefined) return undefined
  const isBroken = unseen.isBroken()
  return {
    reason: { code: isBroken ? 'cannot-watch' : 'looks-anew', workload: displayName(unseen.ref) },
    isBroken,
  }
}
