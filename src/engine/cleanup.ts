import type { LedgerHeader } from '../journal/ledger.ts'
import { chunkName, readLedgers } from '../journal/ledger.ts'
import type { KubeClient } from '../kube/client.ts'
import { listPages } from '../kube/list-pages.ts'
import type { WorkloadRef } from '../plan/plan.ts'
import type { Clock } from '../ports/clock.ts'
import { leasePath, leaseRecord } from './lease.ts'
import { deleteLedger, deletePart, listLedgerParts } from './ledger-store.ts'

export interface CleanupRequest {
  namespace: string
  /** Empty: every workload in the namespace that has a record of sluice. */
  refs: Pick<WorkloadRef, 'kind' | 'name'>[]
  /** Say what would be removed, and remove nothing. */
  dryRun: boolean
}

export interface CleanupPorts {
  client: KubeClient
  clock: Clock
}

/** One object that sluice made. */
export interface CleanupRecord {
  /** Such as ConfigMap. */
  kind: string
  name: string
  /** Why it is removed, or kept. */
  reason: string
}

export interface CleanupReport {
  removed: CleanupRecord[]
  kept: CleanupRecord[]
}

/** Removes what no run needs any more. Never a record with an open target, and never a Lease. */
export async function cleanUp({ namespace, refs, dryRun }: CleanupRequest, { client }: CleanupPorts): Promise<CleanupReport> {
  const parts = await listLedgerParts(client, namespace)
  const known = new Set<string>()
  const report: CleanupReport = { removed: [], kept: [] }
  const wanted = ({ workloads }: LedgerHeader): boolean =>
    refs.length === 0 || workloads.some((one) => refs.some(({ kind, name }) => one.kind === kind && one.name === name))

  for (const found of readLedgers(parts)) {
    if (found.kind === 'unreadable') {
      const record = { kind: 'ConfigMap', name: chunkName(found.run, 0), reason: `it cannot be read: ${found.reason}` }
      report.kept.push(record)
      for (const { name } of parts) if (name === record.name || name.startsWith(`${record.name}-`)) known.add(name)
      continue
    }
    const { header, entries } = found.ledger
    const names = Array.from({ length: header.chunks }, (_, chunk) => chunkName(header.run, chunk))
    for (const name of names) known.add(name)
    if (!wanted(header)) continue
    if (header.finishedAt === undefined) {
      const open = [...entries.values()].filter(({ state }) => state !== 'closed').length
      report.kept.push({
        kind: 'ConfigMap',
        name: names[0]!,
        reason: `run ${header.run} is not finished: ${open} pods may be open`,
      })
      continue
    }
    if (!dryRun) await deleteLedger(header, { client, namespace })
    for (const name of names)
      report.removed.push({ kind: 'ConfigMap', name, reason: `run ${header.run} finished at ${header.finishedAt}` })
  }
  // A part without its ledger: nothing was ever drained by it, since the header is written last.
  const orphans = refs.length > 0 ? [] : parts.filter(({ name }) => !known.has(name))
  const busy = orphans.length > 0 && (await someoneRuns(client, namespace))
  for (const { name } of orphans) {
    if (busy) {
      report.kept.push({ kind: 'ConfigMap', name, reason: 'a part without its ledger, which a run may be about to write' })
      continue
    }
    if (!dryRun) await deletePart(name, { client, namespace })
    report.removed.push({ kind: 'ConfigMap', name, reason: 'a part of a ledger that was never begun' })
  }
  return report
}

async function someoneRuns(client: KubeClient, namespace: string): Promise<boolean> {
  const { items } = await listPages({ client, path: leasePath(namespace) })
  return items.map(leaseRecord).some(({ name, holder }) => name.startsWith('sluice-') && holder !== '')
}
