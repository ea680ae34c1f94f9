import { isConflict, KubeError } from '../../kube/errors.ts'
import { pause } from '../../kube/pause.ts'
import { RunError } from '../errors.ts'
import { orderText, readOrder } from '../orders/order.ts'
import type { HoldOptions, Ownership } from './hold-lease.ts'
import { holdLease, leaseEnd } from './hold-lease.ts'
import type { LeaseRecord } from './lease.ts'
import { LARGEST_EPOCH, LEASE_DURATION_MS, leaseBody, leasePath, leaseRecord, LOOK_EVERY_MS } from './lease.ts'
import { readLeasePatiently } from './read-lease.ts'

/** Between the end of an owner's right by its own clock and a newcomer's: two clocks do not run quite alike. */
export const PAUSE_MS = 1_000

/** A Lease that is held, and since when (on the clock) nobody has renewed it. */
export interface SeenLease {
  record: LeaseRecord
  since: number
  /** It was not looked at again: that it was renewed meanwhile says that its owner lived, and not that it does. */
  once?: true
}

/** A Lease that somebody has deleted: since when, on the clock, that is known, and the largest epoch that a journal had seen then. */
export interface GoneLease {
  since: number
  floor: number
}

export interface OwnershipOptions extends HoldOptions {
  /** The epoch must be larger than this, which a journal has seen, as far as is known now; 0 where none has. */
  epochFloor(): number
  /** Reads the journals anew: a Lease was deleted, and its owner has gone on while that was waited for. */
  readJournals(): Promise<void>
  /** There was an owner, by what else is on record: asked where neither a Lease nor a journal tells of one. */
  hadOwner(): Promise<boolean>
  signal: AbortSignal
  /** The Lease as it was seen before, and since when it was so: that time need not be waited for again. */
  seen?: SeenLease | undefined
  /** It was seen that there is none, though there was an owner: that time need not be waited for again. */
  gone?: GoneLease | undefined
  /** `holder` is empty where somebody has deleted the Lease, or cleared its holder: nobody can say who had it. */
  onWaiting(holder: string, remainingMs: number): void
}

/**
 * Takes the Lease. Where somebody holds it, looks for one lease life on the own monotonic clock: a renewal seen means
 * that the owner lives, and rejects with a RunError of kind `conflict`; none means that it is dead. Where there was one
 * and is none, somebody has deleted it, and its owner may live for as long: that is waited for; so is one whose holder somebody
 * has cleared. No owner before can act any more when this resolves, but where nobody knew of one. Rejects with a RunError of
 * kind `preflight` where the count of owners is at its end.
 */
export async function takeOwnership(options: OwnershipOptions): Promise<Ownership> {
  const { client, clock, namespace, lease, holder, signal } = options
  const path = leasePath(namespace, lease)
  let watched: OwnershipOptions['seen'] = options.seen
  let hadOwner = options.seen !== undefined
  /** Of the Lease, whatever becomes of it. */
  let largestSeen = countable(options.seen?.record.transitions ?? 0)
  let gone = options.gone
  /** One that has this process's name may be its own from now on: an answer was lost. */
  let isTried = false
  /** What was known when that was first tried. */
  let known = { floor: 0, isFirst: false }
  /** Since when nobody says whether it could be written. */
  let failingSince: number | undefined

  assertEpochFits(options.epochFloor(), lease)

  for (;;) {
    signal.throwIfAborted()
    const found = await readLeasePatiently({ ...options, name: lease })
    if (found === undefined) {
      // Found on a cluster: it was deleted with a drain on the wire, which arrived after the next run had found nothing to do.
      hadOwner ||= options.epochFloor() > 0 || (await options.hadOwner())
      // Found by reading: it was counted from a look before that owner had come, or from before another came after it.
      const floor = options.epochFloor()
      if (hadOwner && (gone === undefined || floor > gone.floor)) gone = { since: clock.now(), floor }
      const remainingMs = gone ? gone.since + LEASE_DURATION_MS + PAUSE_MS - clock.now() : 0
      if (remainingMs > 0) {
        options.onWaiting('', remainingMs)
        await pause(clock, Math.min(LOOK_EVERY_MS, remainingMs), signal)
        continue
      }
      // Found by trial: it had written its last journals meanwhile. A smaller epoch than theirs has no right to those pods, and
      // takes them for nobody's: the next pod was drained beside them.
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
      // Renewed since it was seen, once: its owner may be at its end by now, and give its Leases back one after another.
      watched = { record: found, since: renewed ? clock.now() : (watched?.since ?? clock.now()) }
      const remainingMs = watched.since + found.durationMs + PAUSE_MS - clock.now()
      if (remainingMs > 0) {
        options.onWaiting(found.holder, remainingMs)
        await pause(clock, Math.min(LOOK_EVERY_MS, remainingMs), signal)
        continue
      }
    }
    // One that its own first try has made is no sign of another owner.
    if (!(isTried && found?.holder === holder)) known = { floor: largestKnown(), isFirst: !hadOwner }
    const until = leaseEnd(clock)
    const taken = await take(found)
    if (taken) return holdLease(options, { record: taken, until, takenFrom: found?.resourceVersion, ...known })
  }

  /** Who had it and has no journal yet has an epoch all the same: found by reading, its first came later, as that of the next owner. */
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
        // Somebody was faster; look again, from the start.
        watched = undefined
        return undefined
      }
      // An API server that is away for a moment says nothing about it; one that fails all writes, as for a webhook, is not asked for ever.
      failingSince ??= clock.now()
      if (!isUnanswered(error) || clock.now() - failingSince > LEASE_DURATION_MS) throw error
      // It may be ours after all: the next look says so, since the holder's name is this process's alone.
      const now = await readLeasePatiently({ ...options, name: lease })
      // Whatever somebody has made of its count meanwhile.
      if (now?.holder === holder) return { ...now, transitions }
      options.onTrouble(error as Error)
      await pause(clock, LOOK_EVERY_MS, signal)
      return undefined
    }
  }
}

/** At its end somebody has edited it: that is refused as long as it stands there, and counts no more after that. */
function countable(transitions: number): number {
  return transitions < LARGEST_EPOCH ? transitions : 0
}

/** The next owner counts one more than the largest number known. `record` is a pod's name, where it is known. */
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

/** It will not be over by itself. */
function pausedBy({ annotations }: LeaseRecord): { pausedBy?: string } {
  const given = readOrder(annotations)
  return given?.order === 'pause' ? { pausedBy: given.by } : {}
}

/** It may have been written, or no byte left. */
function isUnanswered(error: unknown): boolean {
  return error instanceof KubeError && (error.kind === 'ambiguous' || (error.kind === 'definite' && error.status === undefined))
}

/** Its version moves on with an order too, which anybody may write: that is no sign that its owner lives. */
export function isRenewed(before: LeaseRecord, now: LeaseRecord): boolean {
  if (before.resourceVersion === now.resourceVersion) return false
  return orderText(before.annotations) === orderText(now.annotations) || before.renewTime !== now.renewTime
}
