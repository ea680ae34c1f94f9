import type { WorkloadRef } from '../plan/plan.ts'
import { WorkloadError } from './errors.ts'
import type { WorkloadRecord } from './records.ts'
import { displayName } from '../pods/workload-id.ts'
import type { Reason } from '../reasons/reason.ts'
import { differences } from './template-difference.ts'
import type { ON_DELETE } from './update-strategy.ts'

/** What of a workload must stay as it is from the plan to the end of the run. A scale is no part of it. */
export interface ExpectedTemplate {
  ref: WorkloadRef
  /** Undefined where the kind has none. */
  updateStrategy: typeof ON_DELETE | undefined
  template: unknown
}

/** How the newest version of the workload differs from what is expected; undefined where it does not. */
export function deviation(expected: ExpectedTemplate, workload: WorkloadRecord | undefined): Reason | undefined {
  const owner = displayName(expected.ref)
  if (workload === undefined) return { code: 'workload-deleted', workload: owner }
  if (workload.deleting) return { code: 'workload-going', workload: owner }
  if (expected.updateStrategy !== undefined && workload.updateStrategy !== expected.updateStrategy) {
    const now = workload.updateStrategy ?? ''
    return { code: 'strategy-changed', workload: owner, now, expected: expected.updateStrategy }
  }
  const found = differences(expected.template, workload.template, 'spec.template')
  return found.length === 0 ? undefined : { code: 'template-changed', workload: owner, differences: found }
}

/** The workload as it is, where it is as expected. */
export function expectTemplate(expected: ExpectedTemplate, workload: WorkloadRecord | undefined): WorkloadRecord {
  const reason = deviation(expected, workload)
  if (reason !== undefined) throw new WorkloadError('conflict', reason)
  return workload!
}
