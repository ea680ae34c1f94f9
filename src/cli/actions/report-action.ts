import type { CommandContext } from '../commands/context.ts'
import type { WorkloadId } from '../../pods/workload-id.ts'
import { EXIT, type ExitCode } from '../../library/exit-codes.ts'
import type { ReportFlags } from '../arguments/flags.ts'
import type { Invocation } from '../invocation.ts'
import { inert } from '../output/inert.ts'
import { quote } from '../../library/request/quote.ts'
import { readFailures } from './read-failures.ts'
import { writingFor } from '../printed-commands/writing.ts'
import { loadPage, parseReportFiles, writeReportFiles } from '../run/report-files.ts'
import { parseRequestTimeout } from '../arguments/request-timeout.ts'
import { isKindName, parseRef } from '../../library/request/selection.ts'
import { UsageError } from '../arguments/usage-error.ts'
import { withSluice } from './with-cluster.ts'

/** Reports one run from its ledger, or lists the known runs. */
export async function reportAction(
  argument: string | undefined,
  flags: ReportFlags,
  { terminal, invocation }: CommandContext,
): Promise<ExitCode> {
  const { wanted, requestTimeoutMs } = parseArguments(argument, flags, invocation)
  const files = parseReportFiles(flags.report)
  const failures = flags.failures === undefined ? [] : await readFailures(flags.failures)

  const write = writingFor({ flags, invocation }, terminal.env)
  const { printReport, printRuns } = await import('./print-report.ts')
  if (wanted === undefined) {
    const { runs, namespace } = await withSluice(flags, requestTimeoutMs, terminal, async (sluice) => ({
      runs: await sluice.runs(),
      namespace: sluice.cluster.namespace,
    }))
    printRuns(namespace, runs, flags, terminal, write)
    return EXIT.done
  }
  const { report, passedOver } = await withSluice(flags, requestTimeoutMs, terminal, (sluice) =>
    sluice.report({ ...wanted, failures }),
  )
  if (passedOver.length > 0) {
    const had = passedOver.length === 1 ? 'it had' : 'they had'
    terminal.err.write(`passed over, since ${had} nothing to do: run ${inert(passedOver.join(', '))}\n`)
  }
  const unwritten = writeReportFiles(files, report, { page: await loadPage(files), write })
  for (const { path, message } of unwritten) terminal.err.write(`error: ${inert(`${path} could not be written: ${message}`)}\n`)
  await printReport(report, flags, terminal, write)
  return unwritten.length > 0 ? EXIT.failed : EXIT.done
}

type Wanted = { run: string } | { workload: WorkloadId }

/** Throws a UsageError with all mistakes. Without an argument, the known runs are listed. */
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

/** A run id consists of letters and digits, so an argument with a slash is TYPE/NAME. */
function parseWanted(argument: string, problems: string[]): Wanted | undefined {
  if (isKindName(argument)) problems.push(`${quote(argument)} is no run: write ${argument}/NAME for the newest of a workload`)
  else if (!argument.includes('/')) return { run: argument }
  else {
    const parsed = parseRef(argument)
    if (parsed.ok) return { workload: parsed.ref }
    problems.push(parsed.problem)
  }
  return undefined
}
