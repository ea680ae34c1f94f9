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
 * For `-o json` of pause, resume and abort.
 * - `none`: no run is open
 * - `ordered`: it stands on the Lease; the process of the run follows, or the next one
 * - `aborted`: the process of the run has done it; `left` where a template was left as it is, or pods of a run without a record
 * - `finished`: the run had come to its end before
 */
export interface OrderReport {
  order: 'pause' | 'resume' | 'abort'
  namespace: string
  /** Such as `statefulset/web`: those that were asked for; in place of a pod, what owns it. */
  workloads: string[]
  runs: string[]
  outcome: 'none' | 'ordered' | 'aborted' | 'left' | 'finished'
  reason: Reason
  /** Workloads that an abort has left on different images; absent where there is none. */
  mixed?: MixedWorkload[]
  /**
   * What there is to run now: brings pods to their template, which the abort has given its former images (`backToTemplate`, a command
   * for each of `mixed`) or left as somebody has edited it (`followTemplate`); else empty.
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
