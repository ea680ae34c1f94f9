import type { LedgerHeader, ReadLedger } from '../journal/ledger.ts'
import { displayName, isSameWorkload, type WorkloadId } from '../pods/workload-id.ts'
import { buildReport } from './build-report.ts'
import type { Report, ReportFailure } from './report.ts'
import { recordOfLedger } from './run-record.ts'

/** One run among those that are known. */
export interface KnownRun {
  run: string
  workloads: string[]
  images: { container: string; image: string }[]
  undoes?: string
  startedAt: string
  endedAt?: string
  /** As in a Report; `unreadable` where its ledger is. */
  outcome: string
  reason: string
}

/** The newest first; those that cannot be read come last. */
export function runsOf(found: readonly ReadLedger[]): KnownRun[] {
  return found
    .map((one): KnownRun => {
      if (one.kind === 'unreadable')
        return { run: one.run, workloads: [], images: [], startedAt: '', outcome: 'unreadable', reason: one.reason }
      const { header, entries } = one.ledger
      // Its pods matter only where several processes had them, the last of which does not count what those before have done.
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
  /** A run by its id, or the newest of a workload. */
  wanted: { run: string } | { ref: WorkloadId }
  namespace: string
  failures: readonly ReportFailure[]
}

export function reportOf(
  found: readonly ReadLedger[],
  { wanted, namespace, failures }: Wanted,
): { kind: 'made'; report: Report } | { kind: 'none'; reason: string } {
  if ('run' in wanted) {
    const broken = found.find((one) => one.kind === 'unreadable' && one.run === wanted.run)
    if (broken?.kind === 'unreadable')
      return { kind: 'none', reason: `the ledger of run ${wanted.run} cannot be read: ${broken.reason}` }
  }
  const [ledger] = found
    .flatMap((one) => (one.kind === 'read' ? [one.ledger] : []))
    .filter(({ header }) => ('run' in wanted ? header.run === wanted.run : isOf(header, wanted.ref)))
    .toSorted((a, b) => (a.header.startedAt < b.header.startedAt ? 1 : -1))
  const doubt = 'run' in wanted ? [] : newestDoubted(found, wanted.ref)
  if (ledger) {
    const report = withSilence(buildReport(recordOfLedger(ledger, namespace), failures), ledger.header)
    return { kind: 'made', report: { ...report, missing: [...report.missing, ...doubt] } }
  }
  const what = 'run' in wanted ? `run ${wanted.run}` : `a run of ${displayName(wanted.ref)}`
  const nothing = `nothing is on record of ${what} in namespace ${namespace}; sluice report lists what is`
  return { kind: 'none', reason: [nothing, ...doubt].join('. ') }
}

/** Of which workload such a run is, and when it began, nobody can say. */
function newestDoubted(found: readonly ReadLedger[], workload: WorkloadId): string[] {
  const unreadable = found.flatMap((one) => (one.kind === 'unreadable' ? [one.run] : []))
  if (unreadable.length === 0) return []
  return [
    `Whether a newer run of ${displayName(workload)} is on record cannot be told: these cannot be read: ${unreadable.join(', ')}`,
  ]
}

/** Of a process that has gone on since and was killed there is no word: its pods read as they were before it. */
function withSilence(report: Report, { finishedAt }: LedgerHeader): Report {
  const last = report.processes.at(-1)
  if (finishedAt !== undefined || last === undefined) return report
  const message = `The run is not finished. What a process has done after ${last.endedAt} that is at work, or was killed, is not here: sluice status shows how the pods stand.`
  return { ...report, missing: [...report.missing, message] }
}

function isOf({ workloads }: LedgerHeader, workload: WorkloadId): boolean {
  return workloads.some((one) => isSameWorkload(one, workload))
}
