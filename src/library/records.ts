import { listLedgers } from '../engine/ledgers/list-ledgers.ts'
import type { KubeClient } from '../kube/client.ts'
import { reportOf, runsOf, type KnownRun } from '../report/from-ledgers.ts'
import type { Report, ReportFailure } from '../report/report.ts'
import { NotOnRecordError } from './errors.ts'
import { passOverIdle } from './pass-over-idle.ts'
import type { WorkloadId } from '../pods/workload-id.ts'

/** The report of one run, from the records in the cluster. */
export interface RecordedReport {
  report: Report
  /** Newer runs of the workload that changed nothing; empty if the request names the run. */
  passedOver: readonly string[]
}

export interface ReportSource {
  client: KubeClient
  namespace: string
}

/** Throws a NotOnRecordError if the run is not on record, or its record is not readable. */
export async function reportRun(
  wanted: { run: string } | { ref: WorkloadId },
  failures: readonly ReportFailure[],
  { client, namespace }: ReportSource,
): Promise<RecordedReport> {
  const found = await listLedgers(client, namespace)
  const { left, passedOver } = 'ref' in wanted ? passOverIdle(found, wanted.ref) : { left: found, passedOver: [] }
  const made = reportOf(left, { wanted, namespace, failures })
  if (made.kind === 'none') throw new NotOnRecordError(made.reason)
  return { report: made.report, passedOver }
}

export async function listRuns({ client, namespace }: ReportSource): Promise<KnownRun[]> {
  return runsOf(await listLedgers(client, namespace))
}
