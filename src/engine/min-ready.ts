import type { ReasonOf } from '../reasons/reason.ts'
import type { Refusal } from '../plan/plan.ts'
import { displayName } from '../pods/workload-id.ts'
import type { Workload } from '../workloads/workload.ts'
import type { RunSettings } from './settings.ts'

type Owner = Pick<Workload, 'ref' | 'minReadyMs'>

/** Where a workload asks for more than the config: a pod counts as available to its owner only then. */
export function minReadyWarnings(
  workloads: readonly Owner[],
  { readyForMs }: Pick<RunSettings, 'readyForMs'>,
): ReasonOf<'min-ready-longer'>[] {
  return workloads.flatMap((workload) => {
    const minReadyMs = workload.minReadyMs()
    return minReadyMs > readyForMs ? [{ code: 'min-ready-longer', workload: displayName(workload.ref), minReadyMs }] : []
  })
}

/** The same rule as for `readyFor` in the config: no pod could come back before the ready deadline. */
export function minReadyRefusals(
  workloads: readonly Owner[],
  { readyDeadlineMs }: Pick<RunSettings, 'readyDeadlineMs'>,
): Refusal[] {
  return workloads.flatMap((workload): Refusal[] => {
    const minReadyMs = workload.minReadyMs()
    if (minReadyMs === 0 || minReadyMs < readyDeadlineMs) return []
    return [{ code: 'min-ready-too-long', workload: displayName(workload.ref), minReadyMs, readyDeadlineMs }]
  })
}
