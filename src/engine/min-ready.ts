import type { ReasonOf } from '../reasons/reason.ts'
import type { Refusal } from '../plan/plan.ts'
import { displayName } from '../pods/workload-id.ts'
import type { Workload } from '../workloads/workload.ts'
import type { RunSettings } from './settings.ts'

type Owner = Pick<Workload, 'ref' | 'minReadyMs'>

/** Warns where a workload has longer `minReadySeconds` than `readyFor`. Its controller counts a pod as available only after them. */
export function minReadyWarnings(
  workloads: readonly Owner[],
  { readyForMs }: Pick<RunSettings, 'readyForMs'>,
): ReasonOf<'min-ready-longer'>[] {
  return workloads.flatMap((workload) => {
    const minReadyMs = workload.minReadyMs()
    return minReadyMs > readyForMs ? [{ code: 'min-ready-longer', workload: displayName(workload.ref), minReadyMs }] : []
  })
}

/** Refuses `minReadySeconds` that reach the ready deadline, as the config refuses such a `readyFor`: no pod could come back in time. */
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
