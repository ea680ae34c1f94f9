import type { Refusal } from '../plan/plan.ts'
import { displayName } from '../pods/workload-id.ts'
import type { Workload } from '../workloads/workload.ts'
import type { RunSettings } from './settings.ts'

type Owner = Pick<Workload, 'ref' | 'minReadyMs'>

/** Where a workload asks for more than the config: a pod counts as available to its owner only then. */
export function minReadyWarnings(workloads: readonly Owner[], { readyForMs }: Pick<RunSettings, 'readyForMs'>): string[] {
  return workloads.flatMap((workload) => {
    const leastMs = workload.minReadyMs()
    const words = `a pod is put back once it has been Ready for ${leastMs / 1000} s, since rollout.readyFor is shorter`
    return leastMs > readyForMs ? [`${displayName(workload.ref)} has minReadySeconds ${leastMs / 1000}: ${words}`] : []
  })
}

/** The same rule as for `readyFor` in the config: no pod could come back before the ready deadline. */
export function minReadyRefusals(
  workloads: readonly Owner[],
  { readyDeadlineMs }: Pick<RunSettings, 'readyDeadlineMs'>,
): Refusal[] {
  return workloads.flatMap((workload): Refusal[] => {
    const leastMs = workload.minReadyMs()
    if (leastMs === 0 || leastMs < readyDeadlineMs) return []
    const owner = displayName(workload.ref)
    return [
      {
        code: 'min-ready-too-long',
        message: `${owner} has minReadySeconds ${leastMs / 1000}, which is not shorter than deadlines.ready (${readyDeadlineMs / 1000} s)`,
        hint: `No pod could be ready for that long in time: make deadlines.ready longer (--ready-deadline), or minReadySeconds of ${owner} shorter.`,
      },
    ]
  })
}
