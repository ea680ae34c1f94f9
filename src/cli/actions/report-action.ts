import type { CommandContext } from '../commands/context.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import type { ReportFlags } from '../arguments/flags.ts'
import type { Invocation } from '../invocation.ts'
import { inert } from '../output/inert.ts'
import { quote } from '../../library/request/quote.ts'
import { readFailures } from './read-failures.ts'
import { completeFor } from '../printed-commands/complete-commands.ts'
import { completeReport } from '../printed-commands/complete-report.ts'
import { loadPage, parseReportFiles, writeReportFiles } from '../run/report-files.ts'
import { parseRequestTimeout } from '../arguments/request-timeout.ts'
import { isKindName, parseRef, type SelectedRef } from '../../library/request/selection.ts'
import { UsageError } from '../arguments/usage-error.ts'
import { withCluster } from './with-cluster.ts'

/** Reports one run from its ledger, or lists those that there are. */
export async function reportAction(
  argument: string | undefined,
  flags: ReportFlags,
  { terminal, invocation }: CommandContext,
): Promise<ExitCode> {
  const { wanted, requestTimeoutMs } = parseArguments(argument, flags, invocation)
  const files = parseReportFiles(flags.report)
  const failures = flags.failures === undefined ? [] : await readFailures(flags.failures)

  const { listLedgers } = await import('../../engine/ledgers/list-ledgers.ts')
  const { reportOf, runsOf } = await import('../../report/from-ledgers.ts')
  const { found, namespace } = await withCluster(flags, requestTimeoutMs, terminal, async (cluster) => ({
    found: await listLedgers(cluster.client, cluster.namespace),
    namespace: cluster.namespace,
  }))

  const { printReport, printRuns } = await import('./print-report.ts')
  if (wanted === undefined) {
    printRuns(namespace, runsOf(found), flags, terminal)
    return EXIT.done
  }
  const { passOverIdle } = await import('./pass-over-idle.ts')
  const { left, passedOver } = 'ref' in wanted ? passOverIdle(found, wanted.ref) : { left: found, passedOver: [] }
  const made = reportOf(left, { wanted, namespace, failures })
  if (made.kind === 'none') {
    terminal.err.write(`error: ${inert(made.reason)}\n`)
    return EXIT.preflight
  }
  if (passedOver.length > 0) {
    const had = passedOver.length === 1 ? 'it had' : 'they had'
    terminal.err.write(`passed over, since ${had} nothing to do: run ${inert(passedOver.join(', '))}\n`)
  }
  const complete = completeFor({ flags, invocation }, terminal.env, () => namespace)
  const report = completeReport(made.report, complete)
  const unwritten = writeReportFiles(files, report, await loadPage(files))
  for (const { path, message } of unwritten) terminal.err.write(`error: ${inert(`${path} could not be written: ${message}`)}\n`)
  await printReport(report, flags, terminal)
  return unwritten.length > 0 ? EXIT.failed : EXIT.done
}

type Wanted = { run: string } | { ref: SelectedRef }

/** Throws a UsageError with everything that is wrong. Without a run those that there are shall be listed. */
function parseArguments(
  argument: string | undefined,
  flags: ReportFlags,
  { program }: Pick<Invocation, 'program'>,
): { wanted: Wanted | undefined; requestTimeoutMs: number | undefined } {
  const problems: string[] = []
  const wanted = argument === undefined ? undefined : parseWanted(argument, problems)
  const requestTimeoutMs = parseRequestTimeout(flags.requestTimeout, problems)
  const isOfOneRun = flags.report !== undefined || flags.failures !== undefined || flags.output === 'html'
  if (argument === undefined && isOfOneRun)
    problems.push(`which run? Name one, or TYPE/NAME for the newest of a workload; ${program} report lists them`)
  if (problems.length > 0) throw new UsageError(problems)
  return { wanted, requestTimeoutMs }
}

/** Run ids are made of letters and digits, and never hold the slash of TYPE/NAME. */
function parseWanted(argument: string, problems: string[]): Wanted | undefined {
  if (isKindName(argument)) problems.push(`${quote(argument)} is no run: write ${argument}/NAME for the newest of a workload`)
  else if (!argument.includes('/')) return { run: argument }
  else {
    const parsed = parseRef(argument)
    if (parsed.ok) return { ref: parsed.ref }
    problems.push(parsed.problem)
  }
  return undefined
}
