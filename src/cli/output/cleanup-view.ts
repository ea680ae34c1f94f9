import type { CleanupRecord, CleanupReport } from '../../engine/ledgers/cleanup.ts'
import { table } from './columns.ts'
import { inert } from './inert.ts'
import { API_VERSION } from './api-version.ts'

/** For `cleanup -o json`. */
export function cleanupDocument(namespace: string, dryRun: boolean, report: CleanupReport): object {
  return { apiVersion: API_VERSION, kind: 'CleanupReport', namespace, dryRun, ...report }
}

export function cleanupLines(dryRun: boolean, { removed, kept }: CleanupReport): string[] {
  const row =
    (fate: string) =>
    ({ kind, name, reason }: CleanupRecord) => [fate, `${kind.toLowerCase()}/${inert(name)}`, inert(reason)]
  const rows = [...removed.map(row(dryRun ? 'would remove' : 'removed')), ...kept.map(row('kept'))]
  return rows.length === 0 ? ['Nothing to remove.'] : table(rows)
}
