import type { CheckGroup, CheckName, Finding, Severity, Skip } from './findings.ts'

/** The result of one check. */
export interface CheckReport {
  check: CheckName
  group: CheckGroup
  outcome: 'passed' | 'warning' | 'failed' | 'skipped'
  /** The findings, the worst first. */
  findings: readonly FoundBy[]
  /** The number of findings whose code the caller ignores; absent where there are none. */
  ignored?: number
  /** The reasons why the check, or a part of it, was skipped. */
  skipped: readonly Skip[]
}

/** A finding with its severity. */
export type FoundBy = Finding & { readonly severity: Severity }

/** The report of `sluice doctor`. */
export interface DoctorReport {
  /** Absent where all namespaces were examined. */
  namespace?: string
  /** The outcome of the worst check; `passed` where all others were skipped. */
  outcome: 'passed' | 'warning' | 'failed'
  checks: readonly CheckReport[]
}
