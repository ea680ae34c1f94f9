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
import type { LeaseRecord } from '../leases/lease.ts'
import { leaseName, leasePath, leaseRecord } from '../leases/lease.ts'
import { liveLease } from '../leases/live-lease.ts'
import type { LedgerOptions } from './create-part.ts'
import { deleteLedger, deletePart } from './delete-ledger.ts'
import { listLedgerParts } from './list-ledgers.ts'
import { needFor } from './needed-ledgers.ts'
import { openEntries } from './open-entries.ts'

export interface CleanupRequest {
  namespace: string
  /** Empty: every workload in the namespace that has a record of sluice. */
  refs: WorkloadId[]
  /** Say what would be removed, and remove nothing. */
  dryRun: boolean
}

export interface CleanupPorts {
  client: KubeClient
  clock: Clock
  /** Default: those that sluice knows by itself. */
  kinds?: Kinds
}

/** One object that sluice made. */
export interface CleanupRecord {
  /** Such as ConfigMap. */
  kind: string
  name: string
  /** Why it is removed, or kept. */
  reason: Reason
}

export interface CleanupReport {
  removed: CleanupRecord[]
  kept: CleanupRecord[]
}

/**
 * Removes what no run needs any more. Never a record with an open target, and never a Lease.
 * @throws WorkloadError where a workload is named of which nothing is known
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
  // Without it a drain intent that came late would count: see late-intents.ts.
  const { items } = await listPages({ client, path: podsPath(namespace) })
  const named = namedByJournals(items.map((raw) => ({ pod: podView(raw) })))
  /** Without those that are removed: of two that have settled the same pod, one is enough, and is needed. */
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
      // By the ledger alone each pod is open that nobody has settled in its place; by its own journal it may be home.
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
  // A part without its ledger: nothing was ever drained by it, since the header is written last.
  const found = refs.length > 0 ? [] : orphansAmong(parts)
  if (found.length === 0) return report
  const isBusy = (await liveLease(client, clock, namespace)) !== undefined
  // Whoever was writing one when it was found, and has given its Lease back since, has written the header as well.
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
  /** Pods. */
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
 * A typo in a name must not read as "nothing to remove". One that is gone is known by what a run has left of it: its record, or its
 * Lease, which is never removed.
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

/** What goes with the record of a run that is no undo itself. */
function wayBack(ledger: Ledger, dryRun: boolean): ReasonOf<'run-finished'>['undo'] {
  if (ledger.header.undoes !== undefined || !hasChanged(ledger)) return 'never'
  return dryRun ? 'not-then' : 'no-more'
}

/** A run may be of other workloads too, of which nobody has asked to forget it: an undo would take back the run before it. */
function neededBy({ workloads }: LedgerHeader, refs: CleanupRequest['refs']): CleanupNeed | undefined {
  const others = workloads.filter((one) => !refs.some((ref) => isSameWorkload(one, ref)))
  if (refs.length === 0 || others.length === 0) return undefined
  return { need: 'workloads', workloads: others.map(displayName) }
}

/** Then no command can go on with the run, or abort it. By a list, for which everybody who runs sluice has the right. */
export async function areGone(
  { workloads }: { workloads: readonly WorkloadId[] },
  { client, kinds, namespace }: { client: KubeClient; kinds: Kinds; namespace: string },
): Promise<boolean> {
  for (const { name, ...recorded } of workloads) {
    const kind = kinds.kindOf(recorded)
    // Of a kind that is not known here it cannot be asked for.
    if (kind === undefined) return false
    const path = resourceOf(kind).collection(namespace)
    const found = await listPages({ client, path, selectors: { fieldSelector: `metadata.name=${name}` } }).catch(
      (error: unknown) => {
        if (error instanceof KubeError && isMissingRight(error.status, error.message)) return undefined
        throw error
      },
    )
    // Not allowed to look: then nobody says that it is not there.
    if (found === undefined || found.items.length > 0) return false
  }
  return true
}

/**
 * Without the pods that are there, and have nothing open by their own journals: their workload was deleted without them. And
 * without those that are gone, and for which nothing was to be drained: no command settles them, as there is nothing to settle.
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

/** Those that belong to no ledger: not to one that cannot be read either. */
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

/** As they were the first time: what has been written to since is not removed. */
function intersection(some: readonly LedgerPart[], others: readonly LedgerPart[]): LedgerPart[] {
  const wanted = new Set(others.map(({ name }) => name))
  return some.filter(({ name }) => wanted.has(name))
}
