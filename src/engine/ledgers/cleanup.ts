import type { CleanupNeed } from '../../reasons/cleanup-reasons.ts'
import type { Reason, ReasonOf } from '../../reasons/reason.ts'
import { journalOf } from '../../journal/journal.ts'
import type { Ledger, LedgerEntry, LedgerHeader, LedgerPart, ReadLedger } from '../../journal/ledger.ts'
import { chunkName, readLedgers } from '../../journal/ledger.ts'
import type { KubeClient } from '../../kube/client.ts'
import { isMissingRight, KubeError } from '../../kube/errors.ts'
import { listPages } from '../../kube/list-pages.ts'
import { displayName, isSameWorkload, type WorkloadId } from '../../pods/workload-id.ts'
import { mayBeOpen } from '../../pods/open-journal.ts'
import type { Clock } from '../../ports/clock.ts'
import { assertExists } from '../../workloads/assert-exists.ts'
import { resourceOf } from '../../workloads/resources.ts'
import { KINDS } from '../../workloads/kinds/index.ts'
import type { Kinds } from '../../workloads/kinds/kinds.ts'
import { podView } from '../../pods/view.ts'
import { podsPath } from '../../observation/pod-store.ts'
import { namedByJournals } from './late-intents.ts'
import { findAlive } from './find-alive.ts'
import { hasChanged } from './has-changed.ts'
import type { LeaseRecord } from '../../leases/lease.ts'
import { leaseName } from '../leases/lease-name.ts'
import { leasePath, leaseRecord } from '../../leases/lease.ts'
import { liveLease } from '../leases/live-lease.ts'
import type { LedgerOptions } from './create-part.ts'
import { deleteLedger, deletePart } from './delete-ledger.ts'
import { listLedgerParts } from './list-ledgers.ts'
import { needFor } from './needed-ledgers.ts'
import { openEntries } from './open-entries.ts'

export interface CleanupRequest {
  namespace: string
  /** The workloads. Empty: every workload in the namespace with a record of sluice. */
  refs: WorkloadId[]
  /** Report the objects, and remove none. */
  dryRun: boolean
}

export interface CleanupPorts {
  client: KubeClient
  clock: Clock
  /** The kinds of workloads. Default: the kinds that are built into sluice. */
  kinds?: Kinds
}

/** One object that sluice made. */
export interface CleanupRecord {
  /** The kind of the object, such as ConfigMap. */
  kind: string
  name: string
  /** The reason why the object is removed or kept. */
  reason: Reason
}

export interface CleanupReport {
  removed: CleanupRecord[]
  kept: CleanupRecord[]
}

/**
 * Removes the records that no run needs any more. A record with an open target and a Lease are never removed.
 * @throws WorkloadError for a named workload without any trace
 */
export async function cleanUp(
  { namespace, refs, dryRun }: CleanupRequest,
  { client, clock, kinds = KINDS }: CleanupPorts,
): Promise<CleanupReport> {
  const parts = await listLedgerParts(client, namespace)
  const report: CleanupReport = { removed: [], kept: [] }
  const wanted = ({ workloads }: LedgerHeader): boolean =>
    refs.length === 0 || workloads.some((one) => refs.some((ref) => isSameWorkload(one, ref)))

  const all = readLedgers(parts)
  await assertKnown({ namespace, refs }, all, { client, kinds })
  // A record that a journal names is kept: without it a drain intent that comes late would count. See late-intents.ts.
  const { items } = await listPages({ client, path: podsPath(namespace) })
  const named = namedByJournals(items.map((raw) => ({ pod: podView(raw) })))
  /** The ledgers without the removed ones. Of two ledgers that settled the same pod, one must stay. */
  const ledgers = new Set(all.flatMap((found) => (found.kind === 'read' ? [found.ledger] : [])))
  for (const found of all) {
    if (found.kind === 'unreadable') {
      const record = {
        kind: 'ConfigMap',
        name: chunkName(found.run, 0),
        reason: { code: 'record-unreadable', problem: found.problem } as const,
      }
      report.kept.push(record)
      continue
    }
    const { header } = found.ledger
    const names = partNames(header)
    const asNamed: CleanupNeed | undefined = named.has(header.run) ? { need: 'journal' } : undefined
    if (!wanted(header)) continue
    if (header.finishedAt === undefined) {
      const isGone = await areGone(header, { client, kinds, namespace })
      // The ledger has each pod as open that no run has settled. The pod's own journal may show that it is home.
      const unsettled = openEntries(found.ledger, ledgers)
      const open = (isGone ? await withoutHome(unsettled, client, namespace) : unsettled).length
      const need = asNamed ?? needFor(found.ledger, [...ledgers])
      const isOver = open === 0 && isGone && need === undefined
      const live = isOver ? await liveLease(client, clock, namespace) : undefined
      if (isOver && live === undefined) {
        const workloads = header.workloads.map(displayName)
        const reason = { code: 'workload-gone-for-good', run: header.run, workloads } as const
        if (await remove(names, reason, (to) => deleteLedger(found, to))) ledgers.delete(found.ledger)
        continue
      }
      report.kept.push({
        kind: 'ConfigMap',
        name: names[0]!,
        reason: unfinished({ run: header.run, open, need, live }),
      })
      continue
    }
    const need = asNamed ?? neededBy(header, refs) ?? needFor(found.ledger, [...ledgers])
    if (need !== undefined) {
      const reason = { code: 'run-needed', run: header.run, finished: true, by: need } as const
      report.kept.push({ kind: 'ConfigMap', name: names[0]!, reason })
      continue
    }
    const { run, finishedAt } = header
    const reason = { code: 'run-finished', run, at: finishedAt, undo: wayBack(found.ledger, dryRun) } as const
    if (await remove(names, reason, (to) => deleteLedger(found, to))) ledgers.delete(found.ledger)
  }
  // Without its header, a part belongs to no run that has drained a pod, since the header is written last.
  const found = refs.length > 0 ? [] : orphansAmong(parts)
  if (found.length === 0) return report
  const isBusy = (await liveLease(client, clock, namespace)) !== undefined
  // A process that was writing a part, and has given its Lease back since, has also written the header.
  const orphans = isBusy ? found : intersection(found, orphansAmong(await listLedgerParts(client, namespace)))
  for (const part of orphans) {
    const { name } = part
    if (isBusy) report.kept.push({ kind: 'ConfigMap', name, reason: { code: 'part-without-ledger', mayBegin: true } })
    else await remove([name], { code: 'part-without-ledger', mayBegin: false }, (to) => deletePart(part, to))
  }
  return report

  async function remove(names: readonly string[], reason: Reason, by: (to: LedgerOptions) => Promise<void>): Promise<boolean> {
    try {
      if (!dryRun) await by({ client, namespace })
      for (const name of names) report.removed.push({ kind: 'ConfigMap', name, reason })
      return true
    } catch (error) {
      if (!(error instanceof KubeError) || error.kind !== 'conflict') throw error
      report.kept.push({ kind: 'ConfigMap', name: names[0]!, reason: { code: 'written-meanwhile' } })
      return false
    }
  }
}

interface Unfinished {
  run: string
  /** The number of open pods. */
  open: number
  need: CleanupNeed | undefined
  live: LeaseRecord | undefined
}

function unfinished({ run, open, need, live }: Unfinished): Reason {
  if (live) return { code: 'run-at-work', run, holder: live.holder, lease: live.name }
  if (open > 0) return { code: 'run-has-open-pods', run, pods: open }
  return need === undefined ? { code: 'run-not-finished', run } : { code: 'run-needed', run, finished: false, by: need }
}

/**
 * Throws for a workload without any trace, since a typo must not read as "nothing to remove". A deleted workload is known by its records,
 * or by its Lease, which is never removed.
 * @throws WorkloadError
 */
async function assertKnown(
  { namespace, refs }: Pick<CleanupRequest, 'namespace' | 'refs'>,
  found: readonly ReadLedger[],
  { client, kinds }: { client: KubeClient; kinds: Kinds },
): Promise<void> {
  const recorded = found.flatMap((one) => (one.kind === 'read' ? one.ledger.header.workloads : []))
  const unrecorded = refs.filter((ref) => !recorded.some((one) => isSameWorkload(one, ref)))
  if (unrecorded.length === 0) return
  const { items } = await listPages({ client, path: leasePath(namespace) })
  const leases = new Set(items.map((raw) => leaseRecord(raw).name))
  for (const ref of unrecorded) if (!leases.has(leaseName(ref))) await assertExists({ ...ref, namespace }, { client, kinds })
}

/** The undo that is lost with the record. An undo itself cannot be undone. */
function wayBack(ledger: Ledger, dryRun: boolean): ReasonOf<'run-finished'>['undo'] {
  if (ledger.header.undoes !== undefined || !hasChanged(ledger)) return 'never'
  return dryRun ? 'not-then' : 'no-more'
}

/** The workloads of the run that the request does not name. Their undo would take back an earlier run without this record. */
function neededBy({ workloads }: LedgerHeader, refs: CleanupRequest['refs']): CleanupNeed | undefined {
  const others = workloads.filter((one) => !refs.some((ref) => isSameWorkload(one, ref)))
  if (refs.length === 0 || others.length === 0) return undefined
  return { need: 'workloads', workloads: others.map(displayName) }
}

/**
 * Reports whether the workloads are deleted, so that no command can continue or abort the run. It uses a list, for which each user of
 * sluice has the right.
 */
export async function areGone(
  { workloads }: { workloads: readonly WorkloadId[] },
  { client, kinds, namespace }: { client: KubeClient; kinds: Kinds; namespace: string },
): Promise<boolean> {
  for (const { name, ...recorded } of workloads) {
    const kind = kinds.kindOf(recorded)
    // A workload of an unknown kind cannot be looked up.
    if (kind === undefined) return false
    const path = resourceOf(kind).collection(namespace)
    const found = await listPages({ client, path, selectors: { fieldSelector: `metadata.name=${name}` } }).catch(
      (error: unknown) => {
        if (error instanceof KubeError && isMissingRight(error.status, error.message)) return undefined
        throw error
      },
    )
    // Without the right to list, the workload is not known to be gone.
    if (found === undefined || found.items.length > 0) return false
  }
  return true
}

/**
 * The entries without pods that need no settlement: pods that exist and have nothing open by their journals, and gone pods that were not
 * drained.
 */
async function withoutHome(entries: readonly LedgerEntry[], client: KubeClient, namespace: string): Promise<LedgerEntry[]> {
  const isHome = async (entry: LedgerEntry): Promise<boolean> => {
    const alive = await findAlive(client, namespace, entry)
    return alive === undefined ? entry.targets.every(({ untouched }) => untouched) : !mayBeOpen(journalOf(alive))
  }
  const home = await Promise.all(entries.map(isHome))
  return entries.filter((_, index) => !home[index])
}

function partNames({ run, chunks }: LedgerHeader): string[] {
  return Array.from({ length: chunks }, (_, chunk) => chunkName(run, chunk))
}

/** The parts that belong to no ledger, readable or not. */
function orphansAmong(parts: readonly LedgerPart[]): LedgerPart[] {
  const known = new Set<string>()
  const unreadable: string[] = []
  for (const found of readLedgers(parts)) {
    if (found.kind === 'read') for (const name of partNames(found.ledger.header)) known.add(name)
    else unreadable.push(chunkName(found.run, 0))
  }
  const isOfUnreadable = (name: string): boolean => unreadable.some((one) => name === one || name.startsWith(`${one}-`))
  return parts.filter(({ name }) => !known.has(name) && !isOfUnreadable(name))
}

/** The parts of both lists, as the first list has them. A part that was written since is not removed. */
function intersection(some: readonly LedgerPart[], others: readonly LedgerPart[]): LedgerPart[] {
  const wanted = new Set(others.map(({ name }) => name))
  return some.filter(({ name }) => wanted.has(name))
}
