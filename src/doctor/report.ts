import type { CheckGroup, CheckName, Finding, Severity, Skip } from './findings.ts'

/** What one check has come to. */
export interface CheckReport {
  check: CheckName
  group: CheckGroup
  outcome: 'passed' | 'warning' | 'failed' | 'skipped'
  /** The worst first. */
  findings: readonly FoundBy[]
  /** Findings that the caller did not want to be told of, where there are such. */
  ignored?: number
  /** Where the check was skipped, or a part of it. */
  skipped: readonly Skip[]
}

/** A finding, and how bad it is. */
export type FoundBy = Finding & { readonly severity: Severity }

/** What `sluice doctor` has found. */
export interface DoctorReport {
  /** Absent where all namespaces were looked at. */
  namespace?: string
  /** That of the worst check; `passed` where all others were skipped. */
  outcome: 'passed' | 'warning' | 'failed'
  checks: readonly CheckReport[]
}
