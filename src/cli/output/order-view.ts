import type { OutputFormat } from '../arguments/flags.ts'
import { inert, inertJson } from './inert.ts'
import { API_VERSION } from './api-version.ts'
import type { Reason } from '../../reasons/reason.ts'
import { worded } from '../../report/words/document.ts'
import type { Writing } from '../../report/words/writing.ts'
import type { NextCommand } from '../printed-commands/next-command.ts'
import type { MixedWorkload } from '../../journal/ledger.ts'
import { FOLLOW_TEMPLATE, mixedHeading } from './summary.ts'

/**
 * The document of `-o json` of pause, resume and abort.
 * - `none`: no run is open
 * - `ordered`: the order is on the Lease; the process of the run follows it, or the next process of the run does
 * - `aborted`: the process of the run has carried the order out
 * - `left`: as `aborted`, but a template was left as it is, or pods of a run without a record were
 * - `finished`: the run had finished before
 */
export interface OrderReport {
  order: 'pause' | 'resume' | 'abort'
  namespace: string
  /** The workloads that were asked for, such as `statefulset/web`. A pod stands for its owner. */
  workloads: string[]
  runs: string[]
  outcome: 'none' | 'ordered' | 'aborted' | 'left' | 'finished'
  reason: Reason
  /** Workloads that an abort has left on different images. Absent where there is none. */
  mixed?: MixedWorkload[]
  /**
   * The commands to run next: `backToTemplate` for each of `mixed`, whose template has its former images again; `followTemplate` where
   * an edited template was left as it is. Empty otherwise.
   */
  next: NextCommand[]
}

export function orderOutput(report: OrderReport, format: OutputFormat, write: Writing): string {
  const { reason, mixed, next: commands } = report
  if (format === 'text') {
    const byHeading = Map.groupBy(commands, ({ to, workload }) =>
      to === 'backToTemplate' ? mixedHeading(mixed, workload) : FOLLOW_TEMPLATE,
    )
    const next = [...byHeading].flatMap(([heading, all]) => ['', heading, ...all.map(({ shell }) => `  ${shell}`)])
    return [inert(write.reason(reason)), ...next].map((line) => `${line}\n`).join('')
  }
  return `${inertJson(worded({ apiVersion: API_VERSION, kind: 'OrderReport', ...report }, write), format === 'json' ? 2 : undefined)}\n`
}
