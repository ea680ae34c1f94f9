import { isConflict, KubeError } from '../../kube/errors.ts'
import { pause } from '../../kube/pause.ts'
import { RunError } from '../errors.ts'
import { orderText, readOrder } from '../orders/order.ts'
import type { HoldOptions, Ownership } from './hold-lease.ts'
import { holdLease } from './hold-lease.ts'
import { leaseEnd } from '../../leases/lease-end.ts'
import type { LeaseRecord } from '../../leases/lease.ts'
import {
  LARGEST_EPOCH,
  LEASE_DURATION_MS,
  leaseBody,
  leasePath,
  leaseRecord,
  LOOK_EVERY_MS,
  PAUSE_MS,
} from '../../leases/lease.ts'
import { readLeasePatiently } from '../../leases/read-lease.ts'

/** A Lease that is held, and the time on the clock since which no renewal was seen. */
export interface SeenLease {
  record: LeaseRecord
  since: number
  /** The Lease was read only once. A renewal after that proves that the owner lived then, not that it lives now. */
  once?: true
}

/** A deleted Lease: the time on the clock at which its absence was seen, and the largest epoch in a journal at that time. */
export interface GoneLease {
  since: number
  floor: number
}

export interface OwnershipOptions extends HoldOptions {
  /** The largest epoch that a known journal has seen, 0 for none. The new epoch must be larger. */
  epochFloor(): number
  /** Reads the journals anew. The owner of a deleted Lease may have written to them during the wait. */
  readJournals(): Promise<void>
  /** Reports by other records whether there was an owner. It is asked where neither a Lease nor a journal tells of one. */
  hadOwner(): Promise<boolean>
  signal: AbortSignal
  /** An earlier reading of the Lease. The time since that reading counts for the wait. */
  seen?: SeenLease | undefined
  /** An earlier reading that found the Lease deleted. The time since that reading counts for the wait. */
  gone?: GoneLease | undefined
  /** `holder` is empty where the Lease was deleted, or its holder cleared, so that the owner is unknown. */
  onWaiting(holder: string, remainingMs: number): void
}

/**
 * Takes the Lease. With a holder, waits for one lease life on its own monotonic clock: a renewal shows that the owner lives, and rejects
 * with a RunError of kind `conflict`. A Lease that was deleted, or whose holder was cleared, is waited out too, since its owner may live.
 * After the promise resolves, no known earlier owner can act. Rejects with a RunError of kind `preflight` where the count of owners is at
 * its limit.
 */
export async function takeOwnership(options: OwnershipOptions): Promise<Ownership> {
  const { client, clock, namespace, lease, holder, signal } = options
  const path = leasePath(namespace, lease)
  let watched: OwnershipOptions['seen'] = options.seen
  let hadOwner = options.seen !== undefined
  /** The largest epoch that was seen on the Lease. */
  let largestSeen = countable(options.seen?.record.transitions ?? 0)
  let gone = options.gone
  /** The write of this process may have succeeded without an answer, so a Lease with its name may be its own. */
  let isTried = false
  /** The knowledge before the first try to take the Lease. */
  let known = { floor: 0, isFirst: false }
  /** The time since which no write of the Lease was answered. */
  let failingSince: number | undefined

  assertEpochFits(options.epochFloor(), lease)

  for (;;) {
    signal.throwIfAborted()
    const found = await readLeasePatiently({ ...options, name: lease })
    if (found === undefined) {
      // The owner of a deleted Lease may have a drain on the wire that arrives later. So the deletion is waited out.
      hadOwner ||= options.epochFloor() > 0 || (await options.hadOwner())
      // A larger epoch in a journal shows another owner since the last look. The wait begins anew.
      const floor = options.epochFloor()
      if (hadOwner && (gone === undefined || floor > gone.floor)) gone = { since: clock.now(), floor }
      const remainingMs = gone ? gone.since + LEASE_DURATION_MS + PAUSE_MS - clock.now() : 0
      if (remainingMs > 0) {
        options.onWaiting('', remainingMs)
        await pause(clock, Math.min(LOOK_EVERY_MS, remainingMs), signal)
        continue
      }
      // The earlier owner may have written its last journals meanwhile. A smaller epoch than theirs would not own those pods, and the next
      // pod would be drained beside them.
      if (hadOwner) await options.readJournals()
    } else {
      hadOwner = true
      gone = undefined
      largestSeen = Math.max(largestSeen, countable(found.transitions))
    }
    if (found !== undefined && !found.isGivenBack && !(isTried && found.holder === holder)) {
      const renewed = watched !== undefined && isRenewed(watched.record, found)
      if (renewed && watched?.once !== true && found.holder !== '') {
        throw new RunError(
          'conflict',
          { code: 'lease-held', lease, holder: found.holder, ...pausedBy(found) },
          { holder: found.holder },
        )
      }
      // One renewal after a first look proves little: the owner may be ending, and giving back its Leases one by one.
      watched = { record: found, since: renewed ? clock.now() : (watched?.since ?? clock.now()) }
      const remainingMs = watched.since + found.durationMs + PAUSE_MS - clock.now()
      if (remainingMs > 0) {
        options.onWaiting(found.holder, remainingMs)
        await pause(clock, Math.min(LOOK_EVERY_MS, remainingMs), signal)
        continue
      }
    }
    // A Lease that the first try of this process made is no sign of another owner.
    if (!(isTried && found?.holder === holder)) known = { floor: largestKnown(), isFirst: !hadOwner }
    const until = leaseEnd(clock)
    const taken = await take(found)
    if (taken) return holdLease(options, { record: taken, until, takenFrom: found?.resourceVersion, ...known })
  }

  /** An owner that has no journal yet has an epoch all the same. So the new epoch is at least 2 after an owner. */
  function largestKnown(): number {
    return Math.max(largestSeen, options.epochFloor(), hadOwner ? 1 : 0)
  }

  async function take(found: LeaseRecord | undefined): Promise<LeaseRecord | undefined> {
    if (found && found.transitions >= LARGEST_EPOCH) throw countedOut(found, options)
    assertEpochFits(options.epochFloor(), lease)
    const transitions = largestKnown() + 1
    const renewedAt = clock.wallNow()
    const body = leaseBody({
      namespace,
      name: lease,
      holder,
      transitions,
      renewedAt,
      found,
      annotations: found?.annotations ?? {},
    })
    isTried = true
    try {
      return leaseRecord(found ? await client.replace(path, body) : await client.create(leasePath(namespace), body))
    } catch (error) {
      if (isConflict(error)) {
        // Another process was faster. The wait begins again from a new look.
        watched = undefined
        return undefined
      }
      // A short outage of the API server says nothing about the Lease. Writes that fail for a lease life end the wait.
      failingSince ??= clock.now()
      if (!isUnanswered(error) || clock.now() - failingSince > LEASE_DURATION_MS) throw error
      // The write may have succeeded: the next look shows it, since the holder's name is unique to this process.
      const now = await readLeasePatiently({ ...options, name: lease })
      // The epoch is the written one, even if the count was edited meanwhile.
      if (now?.holder === holder) return { ...now, transitions }
      options.onTrouble(error as Error)
      await pause(clock, LOOK_EVERY_MS, signal)
      return undefined
    }
  }
}

/** A count at its limit was edited. It is refused as long as it stands, and does not count after that. */
function countable(transitions: number): number {
  return transitions < LARGEST_EPOCH ? transitions : 0
}

/** Throws where the next epoch would be too large. `record` is the name of the pod whose journal has the epoch. */
export function assertEpochFits(epochFloor: number, lease: string, record?: string): void {
  if (epochFloor < LARGEST_EPOCH) return
  throw new RunError('preflight', {
    code: 'epoch-too-large',
    lease,
    epoch: epochFloor,
    largest: LARGEST_EPOCH,
    ...(record === undefined ? {} : { pod: record }),
  })
}

function countedOut({ transitions }: LeaseRecord, { namespace, lease, epochFloor }: OwnershipOptions): RunError {
  const patch = JSON.stringify({ spec: { leaseTransitions: epochFloor() } })
  const args = ['patch', 'lease', lease, '--type', 'merge', '-p', patch]
  return new RunError('preflight', {
    code: 'lease-counted-out',
    lease,
    transitions,
    setBack: { command: 'kubectl', namespace, args },
  })
}

/** A pause does not end by itself, so the error names it. */
function pausedBy({ annotations }: LeaseRecord): { pausedBy?: string } {
  const given = readOrder(annotations)
  return given?.order === 'pause' ? { pausedBy: given.by } : {}
}

/** Reports whether the write may have happened, or has not left. */
function isUnanswered(error: unknown): boolean {
  return error instanceof KubeError && (error.kind === 'ambiguous' || (error.kind === 'definite' && error.status === undefined))
}

/**
 * Reports whether the owner has renewed the Lease. An order changes the version too, and any writer can give one, so it is no sign that the
 * owner lives.
 */
export function isRenewed(before: LeaseRecord, now: LeaseRecord): boolean {
  if (before.resourceVersion === now.resourceVersion) return false
  return orderText(before.annotations) === orderText(now.annotations) || before.renewTime !== now.renewTime
}
