import { WorkloadError } from './errors.ts'
import { type ExpectedTemplate, expectTemplate } from './expected-template.ts'
import type { RevisionRecord, WorkloadRecord } from './records.ts'
import { displayName } from '../pods/workload-id.ts'
import type { RevisionRules } from './revision-rules.ts'
import type { ReasonOf } from '../reasons/reason.ts'
import type { Awaited } from '../reasons/template-reasons.ts'
import { differences } from './template-difference.ts'

/** The pinned label, or the awaited condition. */
export type Pinning = { label: string } | { waiting: ReasonOf<Awaited> }

/**
 * The label of the revision that matches the expected template exactly. Pure. The answer to the patch still names the old revision, so the
 * status counts only after the controller has observed the new generation.
 * @throws WorkloadError if the workload deviates from the expectation
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
    return { waiting: { code: 'awaits-generation', kind: expected.ref.kind, generation, observed: observedGeneration } }
  }
  const candidate = rules.updateRevision(workload, revisions)
  const label = candidate && rules.podLabel(candidate.revision)
  if (candidate === undefined || label === undefined) return { waiting: { code: 'awaits-revision' } }
  const found = differences(expected.template, candidate.revision.template, 'spec.template')
  if (found.length === 0) return { label }
  const { name } = candidate.revision
  if (!candidate.certain) return { waiting: { code: 'awaits-revision', newest: { name, differences: found } } }
  const of = displayName(expected.ref)
  throw new WorkloadError('conflict', { code: 'revision-is-another', workload: of, revision: name, differences: found })
}
