import { worded } from '../../report/words/document.ts'
import type { Writing } from '../../report/words/writing.ts'
import type { KnownRun } from '../../report/from-ledgers.ts'
import type { Report } from '../../report/report.ts'
import type { ReportFlags } from '../arguments/flags.ts'
import { createColors, useColor } from '../output/color.ts'
import { inertJson } from '../output/inert.ts'
import { reportLines, runLines } from '../output/report-view.ts'
import { API_VERSION } from '../output/api-version.ts'
import type { Terminal } from '../terminal.ts'

/** Prints the list of known runs. */
export function printRuns(
  namespace: string,
  runs: readonly KnownRun[],
  { output }: Pick<ReportFlags, 'output'>,
  { out }: Pick<Terminal, 'out'>,
  write: Writing,
): void {
  const document = worded({ apiVersion: API_VERSION, kind: 'RunList', namespace, runs }, write)
  out.write(output === 'json' ? `${inertJson(document, 2)}\n` : asText(runLines(namespace, runs)))
}

/** Prints the report of one run. */
export async function printReport(
  report: Report,
  { output, color }: Pick<ReportFlags, 'output' | 'color'>,
  { out, env }: Pick<Terminal, 'out' | 'env'>,
  write: Writing,
): Promise<void> {
  if (output === 'json') out.write(`${inertJson(worded(report, write), 2)}\n`)
  else if (output === 'html') out.write((await import('../../report/html/page.ts')).reportPage(report, write))
  else out.write(asText(reportLines(report, createColors(useColor(color, env, out.isTerminal)), write)))
}

function asText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}
