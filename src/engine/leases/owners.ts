import type { PodView } from '../../pods/glossary.ts'
import type { Reason } from '../../reasons/reason.ts'
import { reasonOf, RunError } from '../errors.ts'
import type { RunEventBody } from '../events.ts'
import { confirmAll } from './confirm-all.ts'
import { leaseName } from './lease.ts'
import { isNamedIn } from '../../workloads/kinds/named-in.ts'
import type { Order } from '../orders/order.ts'
import type { Ownership } from './hold-lease.ts'
import type { GoneLease, SeenLease } from './ownership.ts'
import { assertEpochFits, takeOwnership } from './ownership.ts'
import { readLease } from './read-lease.ts'
import type { RunPorts } from '../request.ts'
import { token } from '../token.ts'
import { isAnyUnfinished } from '../ledgers/unsettled.ts'
import { unlessAborted } from '../../kube/unless-aborted.ts'
import type { AssessedWorkload } from '../planning.ts'
import type { Owner, World } from '../world.ts'

/** One that took longer to be made may have been made beside another. */
const MADE_WITHIN_MS = 2_000

/** The Leases of all workloads of a run. */
export interface Owners extends Owner {
  /** This process may act on the pod now, and for so many milliseconds from now. */
  isHeld(pod: PodView, forMs?: number): boolean
  /** Asks where that has run out: after a stall another may have one of them. As `confirm` of each. */
  confirmAll(): Promise<boolean | undefined>
  /** The largest, for display. */
  readonly epoch: number
  /** Another owner may have acted since the Leases were seen: one was waited out, was written in between, or was long in the making. */
  readonly outdated: boolean
  /**
   * Asks for journals and ledgers that were not there before. Rejects with a RunError of kind `conflict` where another owner has come
   * while a Lease was being made: its own was deleted by somebody, so that it may not know yet, and still act.
   */
  assertAlone(): Promise<void>
  /** What stands on the Leases, as it was last heard. */
  orders(): (Order | undefined)[]
  /** Reads the Leases anew: what stands on them now is heard now. False where one of them could not be read. */
  hear(): Promise<boolean>
  /** Renews them no more: the next owner waits until they have run out. */
  leave(): Promise<void>
  /** Gives them back, but where another may still act; an order that is done with goes from each of them. */
  release(ending?: Parameters<Ownership['release']>[0]): Promise<void>
}

export interface OwnersOptions {
  world: World
  ports: RunPorts
  namespace: string
  signal: AbortSignal
  tell(event: RunEventBody): void
  /** Leases as they were before the world was looked at. */
  seen: ReadonlyMap<string, SeenLease>
  onLost(reason: Reason): void
  onOrder(): void
}

/** Takes one Lease per workload, in one order for all runs, so that two of them never wait for each other. */
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
  /** Another may be at work under a Lease of the same workload that somebody has deleted. */
  const contested = new Set<Ownership>()
  const watched = new Map(seen)
  const gone = new Map<string, GoneLease>()
  let looking: Promise<void> | undefined
  const release: Owners['release'] = async (ending) =>
    void (await Promise.all(
      Array.from(held.values(), (ownership) => (contested.has(ownership) ? ownership.leave() : ownership.release(ending))),
    ))

  /** Found by simulation (seed 20022253): those of a run that died were waited out one after another, 16 s for each of its bare pods. */
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
        // It is read when its turn comes, and so are the others.
        return
      }
    }
  }

  /** A journal may be gone with its pod, or be unreadable: somebody has edited it, and not made it. */
  async function isOnRecord({ workload }: AssessedWorkload): Promise<boolean> {
    const known = [...world.store.all(), ...world.beside.all()]
    if (known.some(({ pod, stored }) => stored.kind === 'unreadable' && workload.owns(pod))) return true
    return isAnyUnfinished(client, namespace, [workload.ref])
  }

  // Before the first of them is taken.
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
      // Until `assertAlone` has looked. Found by reading: it was given back before that, and a third began beside the one that may act.
      if (ownership.takenFrom === undefined && clock.now() - askedAt > MADE_WITHIN_MS) contested.add(ownership)
    }
  } catch (error) {
    await release()
    throw error
  }

  // Found by simulation (seed 44733549): the write that made the Lease was long on its way, and arrived when another owner's had been
  // made, had led to a drain, and was deleted. Both were of one epoch, and took each other's records for their own.
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
   * A pod that is gone is of the workload that its owner reference names, or its name does: its ReplicaSet may be gone with it.
   * Where neither tells, it is of one of these all the same, whose Leases are lost together.
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

/** The largest epoch that a journal has seen, and whose. Found by simulation (seed 70001010): also of the pods beside those asked for. */
function newestJournal(world: World, { workload }: AssessedWorkload): { epoch: number; pod?: string } {
  let newest: { epoch: number; pod?: string } = { epoch: 0 }
  for (const { pod, stored } of [...world.store.all(), ...world.beside.all()]) {
    if (stored.kind === 'read' && workload.owns(pod) && stored.journal.epoch > newest.epoch)
      newest = { epoch: stored.journal.epoch, pod: pod.name }
  }
  return newest
}
