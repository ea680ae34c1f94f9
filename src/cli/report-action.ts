import type { ReadLedger } from '../journal/ledger.ts'
import type { Report, ReportFailure } from '../report/report.ts'
import type { CommandContext } from './commands/context.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import type { ReportFlags } from './flags.ts'
import { assertLogLevel } from './log-level.ts'
import { createColors, useColor } from './output/color.ts'
import { inert, inertJson } from './output/inert.ts'
import { loadPage, parseReportFiles, writeReportFiles } from './report-files.ts'
import { parseRequestTimeout } from './request.ts'
import { parseRef, type SelectedRef } from './selection.ts'
import { UsageError } from './usage-error.ts'

/** Far more than a page could show. `--failures <(command)` may look through logs first. */
const FAILURES_LIMITS = { largestBytes: 1 << 24, pipeDeadlineMs: 60_000, what: 'such a file' }

/** Reports one run from its ledger, or lists those that there are. */
export async function reportAction(
  argument: string | undefined,
  flags: ReportFlags,
  { terminal, invocation }: CommandContext,
): Promise<ExitCode> {
  assertLogLevel(terminal.env)
  const problems: string[] = []
  const wanted = argument === undefined ? undefined : parseWanted(argument, problems)
  const requestTimeoutMs = parseRequestTimeout(flags.requestTimeout, problems)
  if (wanted === undefined && (flags.report !== undefined || flags.output === 'html'))
    problems.push(`which run? Name one, or TYPE/NAME for the newest of a workload; ${invocation.program} report lists them`)
  if (problems.length > 0) throw new UsageError(problems)
  const files = parseReportFiles(flags.report)
  const failures = flags.failures === undefined ? [] : await readFailures(flags.failures)

  const { openCluster } = await import('./world.ts')
  const { listLedgers } = await import('../engine/ledgers/ledger-store.ts')
  const { reportOf, runsOf } = await import('../report/from-ledgers.ts')
  const cluster = await openCluster(flags, requestTimeoutMs, terminal)
  let found: ReadLedger[]
  try {
    found = await listLedgers(cluster.client, cluster.namespace)
  } finally {
    await cluster.close()
  }
  const { namespace } = cluster
  const { reportLines, runLines } = await import('./output/report-view.ts')
  const colors = createColors(useColor(flags.color, terminal.env, terminal.out.isTerminal))
  const say = (lines: readonly string[]): void => lines.forEach((line) => terminal.out.write(`${line}\n`))

  if (wanted === undefined) {
    const runs = runsOf(found)
    if (flags.output === 'json')
      terminal.out.write(`${inertJson({ apiVersion: 'sluice.dev/v1', kind: 'RunList', namespace, runs }, 2)}\n`)
    else say(runLines(namespace, runs))
    return EXIT.done
  }
  const report = reportOf(found, { wanted, namespace, failures })
  if (report.kind === 'none') {
    terminal.err.write(`error: ${inert(report.reason)}\n`)
    return EXIT.preflight
  }
  const unwritten = writeReportFiles(files, report.report, await loadPage(files))
  for (const { path, message } of unwritten) terminal.err.write(`error: ${inert(`${path} could not be written: ${message}`)}\n`)
  await print(report.report)
  return unwritten.length > 0 ? EXIT.failed : EXIT.done

  async function print(made: Report): Promise<void> {
    if (flags.output === 'json') terminal.out.write(`${inertJson(made, 2)}\n`)
    else if (flags.output === 'html') terminal.out.write((await import('../report/html/page.ts')).reportPage(made))
    else say(reportLines(made, colors))
  }
}

/** Run ids are made of letters and digits, and never hold the slash of TYPE/NAME. */
function parseWanted(argument: string, problems: string[]): { run: string } | { ref: SelectedRef } | undefined {
  if (!argument.includes('/')) return { run: argument }
  const parsed = parseRef(argument)
  if (parsed.ok) return { ref: parsed.ref }
  problems.push(parsed.problem)
  return undefined
}

async function readFailures(path: string): Promise<ReportFailure[]> {
  const { parseFailures } = await import('../report/failures.ts')
  const { readBounded } = await import('../config/read-bounded.ts')
  try {
    const read = await readBounded(path, FAILURES_LIMITS)
    if (!(read instanceof Uint8Array)) throw new Error(read.message)
    return parseFailures(new TextDecoder().decode(read))
  } catch (error) {
    throw new UsageError([`--failures: ${JSON.stringify(path)}: ${(error as Error).message}`])
  }
}
