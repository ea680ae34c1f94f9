import type { WorkloadRef } from '../plan/plan.ts'
import { WorkloadError } from './errors.ts'
import type { WorkloadRecord } from './records.ts'
import { displayName } from '../pods/workload-id.ts'
import type { Reason } from '../reasons/reason.ts'
import { differences } from './template-difference.ts'
import type { ON_DELETE } from './update-strategy.ts'

/** The fields of a workload that must stay unchanged from the plan to the end of the run. The scale is not among them. */
export interface ExpectedTemplate {
  ref: WorkloadRef
  /** Undefined if the kind has no update strategy. */
  updateStrategy: typeof ON_DELETE | undefined
  template: unknown
}

/** The difference between the newest version of the workload and the expectation; undefined for none. */
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

/** Returns the workload, and throws if it deviates from the expectation. */
export function expectTemplate(expected: ExpectedTemplate, workload: WorkloadRecord | undefined): WorkloadRecord {
  const reason = deviation(expected, workload)
  if (reason !== undefined) throw new WorkloadError('conflict', reason)
  return workload!
}
