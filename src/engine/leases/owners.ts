import type { PodView } from '../../pods/glossary.ts'
import type { Reason } from '../../reasons/reason.ts'
import { reasonOf, RunError } from '../errors.ts'
import type { RunEventBody } from '../events.ts'
import { confirmAll } from './confirm-all.ts'
import { leaseName } from './lease-name.ts'
import { isNamedIn } from '../../workloads/kinds/named-in.ts'
import type { Order } from '../orders/order.ts'
import type { Ownership } from './hold-lease.ts'
import type { GoneLease, SeenLease } from './ownership.ts'
import { assertEpochFits, takeOwnership } from './ownership.ts'
import { readLease } from '../../leases/read-lease.ts'
import type { RunPorts } from '../request.ts'
import { token } from '../token.ts'
import { isAnyUnfinished } from '../ledgers/unsettled.ts'
import { unlessAborted } from '../../kube/unless-aborted.ts'
import type { AssessedWorkload } from '../planning.ts'
import type { Owner, World } from '../world.ts'

/** A Lease that took longer than this to be made may have been made beside another one. */
const MADE_WITHIN_MS = 2_000

/** The Leases of all workloads of a run. */
export interface Owners extends Owner {
  /** Reports whether this process may act on the pod for the next `forMs` milliseconds. */
  isHeld(pod: PodView, forMs?: number): boolean
  /** Confirms the Leases that have run out, as `confirm` of each: another owner may have taken one during a stall. */
  confirmAll(): Promise<boolean | undefined>
  /** The largest epoch, for display. */
  readonly epoch: number
  /** Another owner may have acted since the Leases were read: a Lease was waited out, was written in between, or took long to be made. */
  readonly outdated: boolean
  /**
   * Reads journals and ledgers for signs of another owner. Rejects with a RunError of kind `conflict` where another owner came while a
   * Lease was being made. The Lease of that owner was deleted, so that it may still act.
   */
  assertAlone(): Promise<void>
  /** The orders on the Leases at their last reading. */
  orders(): (Order | undefined)[]
  /** Reads the Leases anew, so that their present orders count. False where one of them could not be read. */
  hear(): Promise<boolean>
  /** Stops the renewals. The next owner waits until the Leases have run out. */
  leave(): Promise<void>
  /** Gives the Leases back, except those of which another owner may still act. Orders that are done are removed. */
  release(ending?: Parameters<Ownership['release']>[0]): Promise<void>
}

export interface OwnersOptions {
  world: World
  ports: RunPorts
  namespace: string
  signal: AbortSignal
  tell(event: RunEventBody): void
  /** The Leases as they were before the observation of the world. */
  seen: ReadonlyMap<string, SeenLease>
  onLost(reason: Reason): void
  onOrder(): void
}

/** Takes one Lease per workload, in the same order in all runs, so that two runs never wait for each other. */
export async function takeOwners({
  world,
  ports,
  namespace,
  signal,
  tell,
  seen,
  onLost,
  onOrder,
}: OwnersOptions): Promise<Owners> {
  const { client, clock } = ports
  const held = new Map<AssessedWorkload, Ownership>()
  let waited = false
  /** The Leases of workloads whose other owner may still act under a deleted Lease. */
  const contested = new Set<Ownership>()
  const watched = new Map(seen)
  const gone = new Map<string, GoneLease>()
  let looking: Promise<void> | undefined
  const release: Owners['release'] = async (ending) =>
    void (await Promise.all(
      Array.from(held.values(), (ownership) => (contested.has(ownership) ? ownership.leave() : ownership.release(ending))),
    ))

  /** Begins the wait for the later Leases of a dead run, so that they are not waited out one after another. */
  async function lookAhead(from: AssessedWorkload): Promise<void> {
    for (const assessed of world.workloads.slice(world.workloads.indexOf(from) + 1)) {
      const lease = leaseName(assessed.workload.ref)
      if (signal.aborted) return
      if (watched.has(lease)) continue
      try {
        const record = await readLease(client, namespace, lease)
        const floor = newestJournal(world, assessed).epoch
        if (record !== undefined) watched.set(lease, { record, since: clock.now(), once: true })
        else if (floor > 0 || (await isOnRecord(assessed))) gone.set(lease, { since: clock.now(), floor })
      } catch {
        // The Leases are read again when their turn comes.
        return
      }
    }
  }

  /** Reports whether other records tell of an owner. A journal may be gone with its pod, or be unreadable after an edit. */
  async function isOnRecord({ workload }: AssessedWorkload): Promise<boolean> {
    const known = [...world.store.all(), ...world.beside.all()]
    if (known.some(({ pod, stored }) => stored.kind === 'unreadable' && workload.owns(pod))) return true
    return isAnyUnfinished(client, namespace, [workload.ref])
  }

  // The epochs are checked before the first Lease is taken.
  for (const assessed of world.workloads) {
    const { epoch, pod } = newestJournal(world, assessed)
    assertEpochFits(epoch, leaseName(assessed.workload.ref), pod)
  }

  try {
    for (const assessed of world.workloads) {
      const lease = leaseName(assessed.workload.ref)
      await looking
      const askedAt = clock.now()
      const ownership = await takeOwnership({
        client,
        clock,
        namespace,
        lease,
        holder: `${ports.identity}_${token(ports.random, 6)}`,
        epochFloor: () => newestJournal(world, assessed).epoch,
        readJournals: () => unlessAborted(world.refresh(), signal),
        hadOwner: () => isOnRecord(assessed),
        signal,
        seen: watched.get(lease),
        gone: gone.get(lease),
        onWaiting(holder, remainingMs) {
          waited = true
          looking ??= lookAhead(assessed)
          tell({ type: 'leaseWaiting', lease, holder, remainingMs: Math.ceil(remainingMs) })
        },
        onRegained: () => world.refresh(),
        onLost,
        onOrder,
        onTrouble: (error) => tell({ type: 'warning', reason: { code: 'lease-not-renewed', because: reasonOf(error) } }),
      })
      held.set(assessed, ownership)
      // The Lease stays contested until `assertAlone` has looked. Given back before that, it would let a third owner begin.
      if (ownership.takenFrom === undefined && clock.now() - askedAt > MADE_WITHIN_MS) contested.add(ownership)
    }
  } catch (error) {
    await release()
    throw error
  }

  // The write that made the Lease may have arrived after another owner's Lease was made, used for a drain, and deleted. Both owners would
  // then have the same epoch, and take each other's records for their own.
  async function assertAlone(): Promise<void> {
    const entries = [...held]
    const overtaken = entries.find(([assessed, { floor }]) => newestJournal(world, assessed).epoch > floor)?.[1].lease
    const first = entries.filter(([, { isFirst }]) => isFirst).map(([{ workload }]) => workload.ref)
    const isContested = overtaken !== undefined || (first.length > 0 && (await isAnyUnfinished(client, namespace, first)))
    for (const [, ownership] of entries) {
      if (isContested) contested.add(ownership)
      else contested.delete(ownership)
    }
    if (!isContested) return
    const leases = overtaken === undefined ? first.map(leaseName) : [overtaken]
    throw new RunError('conflict', { code: 'lease-contested', leases })
  }

  function isWritten({ lease, takenFrom }: Ownership): boolean {
    return takenFrom !== seen.get(lease)?.record.resourceVersion
  }

  /**
   * The Lease of the pod's workload. A gone pod belongs to the workload of its owner reference, or of its name, since its ReplicaSet may be
   * gone too. Without either, any Lease of this run serves, since these are lost together.
   */
  function of(pod: PodView): Ownership | undefined {
    const assessed = world.workloadOf(pod) ?? world.workloads.find(({ workload: { ref } }) => isNamedIn(world.kinds, ref, pod))
    return assessed ? held.get(assessed) : held.values().next().value
  }

  return {
    isHeld: (pod, forMs) => of(pod)?.isHeld(forMs) ?? false,
    epochOf: (pod) => of(pod)?.epoch ?? 1,
    termOf(pod) {
      const own = of(pod)
      return own && { lease: own.uid, epoch: own.epoch }
    },
    confirmAll: () => confirmAll(held.values()),
    epoch: Math.max(1, ...Array.from(held.values(), ({ epoch }) => epoch)),
    outdated: waited || contested.size > 0 || Array.from(held.values(), isWritten).some(Boolean),
    assertAlone,
    orders: () => Array.from(held.values(), ({ order }) => order),
    hear: async () => (await Promise.all(Array.from(held.values(), (ownership) => ownership.hear()))).every(Boolean),
    release,
    leave: async () => void (await Promise.all(Array.from(held.values(), (ownership) => ownership.leave()))),
  }
}

/** The largest epoch in a journal, and its pod. Pods beside the requested ones count too. */
function newestJournal(world: World, { workload }: AssessedWorkload): { epoch: number; pod?: string } {
  let newest: { epoch: number; pod?: string } = { epoch: 0 }
  for (const { pod, stored } of [...world.store.all(), ...world.beside.all()]) {
    if (stored.kind === 'read' && workload.owns(pod) && stored.journal.epoch > newest.epoch)
      newest = { epoch: stored.journal.epoch, pod: pod.name }
  }
  return newest
}
