import { worded } from '../../report/words/document.ts'
import type { Writing } from '../../report/words/writing.ts'
import type { CleanupRecord, CleanupReport } from '../../engine/ledgers/cleanup.ts'
import { table } from './columns.ts'
import { inert } from './inert.ts'
import { API_VERSION } from './api-version.ts'

/** The document of `cleanup -o json`. */
export function cleanupDocument(namespace: string, dryRun: boolean, report: CleanupReport, write: Writing): unknown {
  return worded({ apiVersion: API_VERSION, kind: 'CleanupReport', namespace, dryRun, ...report }, write)
}

export function cleanupLines(dryRun: boolean, { removed, kept }: CleanupReport, write: Writing): string[] {
  const row =
    (fate: string) =>
    ({ kind, name, reason }: CleanupRecord) => [fate, `${kind.toLowerCase()}/${inert(name)}`, inert(write.reason(reason))]
  const rows = [...removed.map(row(dryRun ? 'would remove' : 'removed')), ...kept.map(row('kept'))]
  return rows.length === 0 ? ['Nothing to remove.'] : table(rows)
}
