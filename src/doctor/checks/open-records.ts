import { leaseName } from '../../engine/leases/lease-name.ts'
import type { StatusReport } from '../../engine/status/status.ts'
import { displayName } from '../../pods/workload-id.ts'
import { type Check, found, skippedFor } from '../check.ts'
import type { Finding } from '../findings.ts'
import type { Records } from '../gathered.ts'

/** No run is left half done. A run whose process works is not left. */
export const openRecords: Check = {
  name: 'open-records',
  examine: ({ records }) => (records.ok ? found(records.value.flatMap(openIn)) : skippedFor(records.because)),
}

function openIn({ namespace, status: { workloads, unreadable }, live }: Records): Finding[] {
  const isAtWork = ({ workload }: StatusReport): boolean => live.some(({ lease }) => lease === leaseName(workload))
  return [
    ...unreadable.map(({ run, problem, needsOperator: { advice } }): Finding => ({
      code: 'record-unreadable',
      namespace,
      run,
      because: problem,
      advice,
    })),
    ...workloads.flatMap((report) => openOf(namespace, report, isAtWork(report))),
  ]
}

function openOf(namespace: string, { workload: ref, runs, pods }: StatusReport, isAtWork: boolean): Finding[] {
  const workload = displayName(ref)
  const open = pods.filter(({ state, needsOperator }) => state !== 'closed' || needsOperator !== undefined)
  const told = new Set<string>()
  const ofPods = open.flatMap(({ name: pod, run, state: step, out, needsOperator }): Finding[] => {
    told.add(run)
    if (needsOperator !== undefined) {
      const { reason, advice } = needsOperator
      return [{ code: 'pod-needs-operator', namespace, pod, workload, run, ...(reason ? { because: reason } : {}), advice }]
    }
    return isAtWork ? [] : [{ code: 'journal-open', namespace, pod, workload, run, step, out }]
  })
  const ofRuns = runs
    .filter(({ id, finished }) => !finished && !isAtWork && !told.has(id))
    .map(({ id: run, startedAt, ordered }): Finding => ({
      code: 'run-open',
      namespace,
      workload,
      run,
      startedAt,
      ...(ordered === undefined ? {} : { ordered }),
    }))
  return [...ofPods, ...ofRuns]
}
