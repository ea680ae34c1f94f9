import { displayName } from '../../workloads/resources.ts'
import type { Workload } from '../../workloads/workload.ts'
import type { PodStore } from '../pod-store.ts'
import type { Beside } from './beside.ts'

interface Watched {
  store: Pick<PodStore, 'isCurrent'>
  beside: Pick<Beside, 'isCurrent'>
  workloads: readonly Pick<Workload, 'ref' | 'isCurrent'>[]
}

/** What cannot be watched at this moment, so that no pod may start on what is known; undefined where all is known of now. */
export function blindness({ store, beside, workloads }: Watched): string | undefined {
  if (!store.isCurrent() || !beside.isCurrent()) return 'the pods cannot be watched at this moment'
  // Found by simulation (harsh seed 9185108): it had been scaled up again, which nobody knew, and the pod that it lacked was not missed.
  const unseen = workloads.find((workload) => !workload.isCurrent())
  return unseen && `${displayName(unseen.ref)} cannot be watched at this moment`
}
