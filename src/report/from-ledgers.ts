import type { Reason } from '../reasons/reason.ts'
import type { LedgerHeader, ReadLedger } from '../journal/ledger.ts'
import { displayName, isSameWorkload, type WorkloadId } from '../pods/workload-id.ts'
import { buildReport } from './build-report.ts'
import type { Report, ReportFailure } from './report.ts'
import { recordOfLedger } from './run-record.ts'

/** One of the recorded runs. */
export interface KnownRun {
  run: string
  workloads: string[]
  images: { container: string; image: string }[]
  undoes?: string
  startedAt: string
  endedAt?: string
  /** The outcome of a Report; `unreadable` if the ledger is not readable. */
  outcome: string
  reason: Reason
}

/** The runs, the newest first; unreadable runs are last. */
export function runsOf(found: readonly ReadLedger[]): KnownRun[] {
  return found
    .map((one): KnownRun => {
      if (one.kind === 'unreadable')
        return { run: one.run, workloads: [], images: [], startedAt: '', outcome: 'unreadable', reason: one.problem }
      const { header, entries } = one.ledger
      // The pods matter only if several processes had them, because the last process does not count the upgrades of the others.
      const isOfSeveral = (header.accounts?.length ?? 0) > 1
      const { run, workloads, images, undoes, startedAt, endedAt, outcome, reason } = buildReport(
        recordOfLedger({ header, entries: isOfSeveral ? entries : new Map() }, ''),
      )
      return {
        run,
        workloads,
        images,
        ...(undoes === undefined ? {} : { undoes }),
        startedAt,
        ...(endedAt === undefined ? {} : { endedAt }),
        outcome,
        reason,
      }
    })
    .toSorted((a, b) => (a.startedAt < b.startedAt ? 1 : -1))
}

export interface Wanted {
  /** The run by its id, or the newest run of a workload. */
  wanted: { run: string } | { ref: WorkloadId }
  namespace: string
  failures: readonly ReportFailure[]
}

export function reportOf(
  found: readonly ReadLedger[],
  { wanted, namespace, failures }: Wanted,
): { kind: 'made'; report: Report } | { kind: 'none'; reason: Reason } {
  if ('run' in wanted) {
    const broken = found.find((one) => one.kind === 'unreadable' && one.run === wanted.run)
    if (broken?.kind === 'unreadable')
      return { kind: 'none', reason: { code: 'run-unreadable', run: wanted.run, problem: broken.problem } }
  }
  const [ledger] = found
    .flatMap((one) => (one.kind === 'read' ? [one.ledger] : []))
    .filter(({ header }) => ('run' in wanted ? header.run === wanted.run : isOf(header, wanted.ref)))
    .toSorted((a, b) => (a.header.startedAt < b.header.startedAt ? 1 : -1))
  const unreadable = found.flatMap((one) => (one.kind === 'unreadable' ? [one.run] : []))
  if (ledger) {
    const report = withSilence(buildReport(recordOfLedger(ledger, namespace), failures), ledger.header)
    const doubt =
      'run' in wanted || unreadable.length === 0
        ? []
        : [{ code: 'newer-run-unknown', workload: displayName(wanted.ref), unreadable } as const]
    return { kind: 'made', report: { ...report, missing: [...report.missing, ...doubt] } }
  }
  const of = 'run' in wanted ? { run: wanted.run } : { workload: displayName(wanted.ref) }
  return { kind: 'none', reason: { code: 'nothing-on-record-of', of, namespace, unreadable } }
}

/** A later process that was killed leaves no account. The pods of the report are in the state before that process. */
function withSilence(report: Report, { finishedAt }: LedgerHeader): Report {
  const last = report.processes.at(-1)
  if (finishedAt !== undefined || last === undefined) return report
  return { ...report, missing: [...report.missing, { code: 'not-finished', after: last.endedAt }] }
}

function isOf({ workloads }: LedgerHeader, workload: WorkloadId): boolean {
  return workloads.some((one) => isSameWorkload(one, workload))
}
