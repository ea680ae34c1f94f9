import type { WorkloadRef } from '../plan/plan.ts'
import { WorkloadError } from './errors.ts'
import type { WorkloadRecord } from './records.ts'
import { displayName } from '../pods/workload-id.ts'
import { describeDifferences, differences } from './template-difference.ts'
import type { ON_DELETE } from './update-strategy.ts'

/** What of a workload must stay as it is from the plan to the end of the run. A scale is no part of it. */
export interface ExpectedTemplate {
  ref: WorkloadRef
  /** Undefined where the kind has none. */
  updateStrategy: typeof ON_DELETE | undefined
  template: unknown
}

/** In words, how the newest version of the workload differs from what is expected; undefined where it does not. */
export function deviation(expected: ExpectedTemplate, workload: WorkloadRecord | undefined): string | undefined {
  const owner = displayName(expected.ref)
  if (workload === undefined) return `${owner} was deleted`
  if (workload.deleting) return `${owner} is being deleted`
  if (expected.updateStrategy !== undefined && workload.updateStrategy !== expected.updateStrategy) {
    return `the update strategy of ${owner} is ${workload.updateStrategy} now, no longer ${expected.updateStrategy}`
  }
  const found = differences(expected.template, workload.template, 'spec.template')
  return found.length === 0 ? undefined : `the template of ${owner} was changed by somebody else: ${describeDifferences(found)}`
}

/** The workload as it is, where it is as expected. */
export function expectTemplate(expected: ExpectedTemplate, workload: WorkloadRecord | undefined): WorkloadRecord {
  const message = deviation(expected, workload)
  if (message !== undefined) throw new WorkloadError('conflict', message)
  return workload!
}
