import type { Reason } from '../reasons/reason.ts'
import type { PodAccount, ProcessAccount } from '../journal/account.ts'
import { accountsOf } from '../journal/ledger-accounts.ts'
import { readProcessAccount } from '../journal/account.ts'
import type { Ledger, LedgerEntry, LedgerHeader } from '../journal/ledger.ts'
import type { ContainerImage } from '../pods/glossary.ts'
import { displayName } from '../pods/workload-id.ts'

/** The data of a report, from the events of a run or from its ledger. */
export interface RunRecord {
  run: string
  namespace: string
  workloads: string[]
  images: ContainerImage[]
  undoes?: string
  startedAt: string
  /** The time from which on no work of the run is open. */
  finishedAt?: string
  abortedBy?: string
  /** The newest last. */
  processes: ProcessAccount[]
  pods: PodRecord[]
}

export interface PodRecord {
  uid: string
  pod: string
  node?: string
  images: { container: string; from: string; to: string }[]
  targets: { loadBalancer: string; target: string; prior?: unknown }[]
  /** The newest last. The accounts of other runs' processes are included; they contain the id of their run. */
  accounts: PodAccount[]
  /** No work is left for the pod, whichever process has finished it. */
  isClosed?: true
  /** The reason why no process has reported on the pod, if it is known. */
  untold?: { outcome: string; reason: Reason }
}

/** True for an account of this run's own processes. */
export function isOwn({ run }: Pick<PodAccount, 'run'>): boolean {
  return run === undefined
}

/** The record of a run from its ledger in the cluster. */
export function recordOfLedger({ header, entries }: Ledger, namespace: string): RunRecord {
  return {
    run: header.run,
    namespace,
    workloads: header.workloads.map(displayName),
    images: header.images,
    ...(header.undoes === undefined ? {} : { undoes: header.undoes }),
    startedAt: header.startedAt,
    ...(header.finishedAt === undefined ? {} : { finishedAt: header.finishedAt }),
    ...(header.aborted === undefined ? {} : { abortedBy: header.aborted.by }),
    processes: processesOf(header),
    pods: Array.from(entries.values(), (entry) => podRecord(entry, header)),
  }
}

function processesOf({ accounts = [] }: LedgerHeader): ProcessAccount[] {
  return accounts.flatMap((value) => readProcessAccount(value) ?? [])
}

function podRecord(entry: LedgerEntry, header: LedgerHeader): PodRecord {
  const { uid, pod, node, targets, before, state, leftOut } = entry
  const accounts = accountsOf(entry, header)
  return {
    uid,
    pod,
    ...(node === undefined ? {} : { node }),
    images: (before?.images ?? []).map(({ container, image }) => ({
      container,
      from: image,
      to: wantedImage(container, header, accounts),
    })),
    targets: targets.map(({ loadBalancer, target, prior }) => ({ loadBalancer, target, prior })),
    accounts,
    // A pod with entries that were left out is not closed, because the decision of a person is pending.
    ...(state === 'closed' && !leftOut ? { isClosed: true } : {}),
    ...(state === 'abandoned' ? { untold: { outcome: 'needsOperator', reason: { code: 'left-to-person' } as const } } : {}),
  }
}

/**
 * The wanted image of a container. If the request has no images (template or undo), pods may have got different ones, and the restart of
 * the pod has its image. Empty if it is not known.
 */
function wantedImage(name: string, { images }: LedgerHeader, accounts: readonly PodAccount[]): string {
  const asked = images.filter(({ container }) => container === name)
  if (asked.length === 1) return asked[0]!.image
  const restarted = accounts
    .filter(isOwn)
    .flatMap(({ restarts }) => restarts)
    .findLast(({ container }) => container === name)
  return restarted?.image.to ?? ''
}
