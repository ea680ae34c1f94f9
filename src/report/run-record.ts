import type { Reason } from '../reasons/reason.ts'
import type { PodAccount, ProcessAccount } from '../journal/account.ts'
import { accountsOf } from '../journal/ledger-accounts.ts'
import { readProcessAccount } from '../journal/account.ts'
import type { Ledger, LedgerEntry, LedgerHeader } from '../journal/ledger.ts'
import type { ContainerImage } from '../pods/glossary.ts'
import { displayName } from '../pods/workload-id.ts'

/** What a report is made of, whether it was heard or read. */
export interface RunRecord {
  run: string
  namespace: string
  workloads: string[]
  images: ContainerImage[]
  undoes?: string
  startedAt: string
  /** Nothing is open any more. */
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
  /** The newest last; also those of processes of other runs, which name theirs. */
  accounts: PodAccount[]
  /** Nothing is left to do for it, whoever has seen to that. */
  isClosed?: true
  /** Why no process has told of it, where that is known. */
  untold?: { outcome: string; reason: Reason }
}

/** Of a process of this run. */
export function isOwn({ run }: Pick<PodAccount, 'run'>): boolean {
  return run === undefined
}

/** What is kept in the cluster of a run. */
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
    // What was left out, and told of since, is open for a person, who takes that away.
    ...(state === 'closed' && !leftOut ? { isClosed: true } : {}),
    ...(state === 'abandoned' ? { untold: { outcome: 'needsOperator', reason: { code: 'left-to-person' } as const } } : {}),
  }
}

/**
 * Workloads that were brought to their own templates, and pods that an undo has taken back, may have gone to different images:
 * the restart of the pod says then to which. Empty where it does not.
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
