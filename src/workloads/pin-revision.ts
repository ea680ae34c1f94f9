import { WorkloadError } from './errors.ts'
import { type ExpectedTemplate, expectTemplate } from './expected-template.ts'
import type { RevisionRecord, WorkloadRecord } from './records.ts'
import { displayName } from '../pods/workload-id.ts'
import type { RevisionRules } from './revision-rules.ts'
import { describeDifferences, differences } from './template-difference.ts'

/** The pinned label, or what is still waited for. */
export type Pinning = { label: string } | { waiting: string }

/**
 * The label of the revision that stands for exactly the expected template; pure. The answer of the patch itself still
 * names the old revision, so what the status says counts only once the controller has observed the new generation.
 * @throws WorkloadError where the workload is another by now
 */
export function pinRevision(
  rules: RevisionRules,
  expected: ExpectedTemplate,
  newest: WorkloadRecord | undefined,
  revisions: readonly RevisionRecord[],
): Pinning {
  const workload = expectTemplate(expected, newest)
  const { generation, observedGeneration } = workload
  if (observedGeneration < generation) {
    return { waiting: `the ${expected.ref.kind} controller observes generation ${generation} (it is at ${observedGeneration})` }
  }
  const candidate = rules.updateRevision(workload, revisions)
  const label = candidate && rules.podLabel(candidate.revision)
  if (candidate === undefined || label === undefined) return { waiting: 'the ControllerRevision of the template appears' }
  const found = differences(expected.template, candidate.revision.template, 'spec.template')
  if (found.length === 0) return { label }
  const but = `the newest is ${candidate.revision.name}, which differs: ${describeDifferences(found)}`
  if (!candidate.certain) return { waiting: `the ControllerRevision of the template appears (${but})` }
  throw new WorkloadError(
    'conflict',
    `the update revision of ${displayName(expected.ref)} is not its template: ${candidate.revision.name} differs: ${describeDifferences(found)}`,
  )
}
