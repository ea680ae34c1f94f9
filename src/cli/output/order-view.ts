import type { OutputFormat } from '../flags.ts'
import { inert, inertJson } from './inert.ts'
import { API_VERSION } from './run-report.ts'

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
  /** As they were asked for, such as `statefulset/web`. */
  workloads: string
  runs: string[]
  outcome: 'none' | 'ordered' | 'aborted' | 'left' | 'finished'
  message: string
}

export function orderOutput(report: OrderReport, format: OutputFormat): string {
  if (format === 'text') return `${inert(report.message)}\n`
  return `${inertJson({ apiVersion: API_VERSION, kind: 'OrderReport', ...report }, format === 'json' ? 2 : undefined)}\n`
}
