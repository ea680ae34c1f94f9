import { isConflict } from '../../kube/errors.ts'
import { pause } from '../../kube/pause.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Reason } from '../../reasons/reason.ts'
import { reasonOf, Withheld } from '../errors.ts'
import { LEASE_DURATION_MS, type LeaseRecord, LOOK_EVERY_MS } from '../leases/lease.ts'
import { isRenewed, PAUSE_MS } from '../leases/ownership.ts'
import { readLease } from '../leases/read-lease.ts'
import type { DocumentLock } from '../request.ts'
import { CALL_LIFE_MS } from '../traffic/scope-queues.ts'
import { documentLease, writeLease } from './document-lease.ts'

/** For one call to the API server. */
const API_DEADLINE_MS = 4_000
const AFTER_CONFLICT_MS = 100
/** A process that has call upon call lets others have a turn after so long: they look for one each LOOK_EVERY_MS. */
const LONGEST_TURN_MS = 3_000
const BETWEEN_TURNS_MS = LOOK_EVERY_MS + LOOK_EVERY_MS / 2
/** The Lease is not renewed: what leaves later than this may live longer than the Lease does. */
export const LEAVES_WITHIN_MS = LEASE_DURATION_MS - CALL_LIFE_MS

/** The right to write a document, for one call. */
export interface HeldDocument {
  /** Throws a Withheld where a call that leaves now may outlive the Lease. */
  assertFresh(): void
  /** The next writer need not wait. Does not throw: a Lease that cannot be given back runs out. */
  giveBack(): Promise<void>
  /** The Lease runs out by itself: what was sent may arrive until then. */
  leave(): void
}

/** The Lease of one document, as one process takes it: one call at a time. */
export interface DocumentTurns {
  /** Rejects with a Withheld where the Lease is not to be had within `withinMs`. */
  take(withinMs: number): Promise<HeldDocument>
}

interface Instant {
  at: number
  wallAt: number
}

/** `identity` names the process, and is unique. */
export function createDocumentTurns(lock: DocumentLock, clock: Clock, identity: string): DocumentTurns {
  const { client, namespace } = lock
  const lease = documentLease(lock)
  /** As this process has given it back: nobody may have written it since. */
  let own: LeaseRecord | undefined
  /** The Lease as it was seen last, or that there was none any more, and since when nobody has renewed it. */
  let seen: { record: LeaseRecord | undefined; since: number } | undefined
  let calls = 0
  /** Since when, and until when, this process has had call upon call. */
  let turn = { since: clock.now(), until: clock.now() }

  async function letOthers(): Promise<void> {
    const isNew = clock.now() - turn.until >= BETWEEN_TURNS_MS
    if (!isNew && clock.now() - turn.since < LONGEST_TURN_MS) return
    if (!isNew) await pause(clock, BETWEEN_TURNS_MS)
    turn = { since: clock.now(), until: clock.now() }
  }

  /** How long its holder may live still, as far as this process has seen. */
  function remainingMs(found: LeaseRecord | undefined): number {
    const now = clock.now()
    if (found === undefined && seen === undefined) return 0
    if (found?.isGivenBack === true) return 0
    const isSame = found === undefined ? seen?.record === undefined : seen?.record && !isRenewed(seen.record, found)
    // A Lease that somebody has deleted, or whose holder somebody has cleared, may be held all the same.
    if (!isSame) seen = { record: found, since: now }
    return seen!.since + (found?.durationMs ?? LEASE_DURATION_MS) + PAUSE_MS - now
  }

  async function take(withinMs: number): Promise<HeldDocument> {
    // Of this call alone: a Lease that an earlier call has left is another's.
    const holder = `${identity} ${(calls += 1)}`
    await letOthers()
    const endAt = clock.now() + withinMs
    /** The oldest write that may still succeed, and the version that it replaces. */
    let tried: (Instant & { version: string | undefined }) | undefined
    for (;;) {
      let reason: Reason
      let waitMs = LOOK_EVERY_MS
      try {
        const found = own ?? (await readLease(client, namespace, lease, { deadlineMs: API_DEADLINE_MS }))
        if (tried !== undefined && found?.holder === holder) return hold(found, tried)
        if (tried?.version !== found?.resourceVersion) tried = undefined
        const leftMs = remainingMs(found)
        if (leftMs <= 0) {
          tried ??= { ...instant(), version: found?.resourceVersion }
          const renewedAt = clock.wallNow()
          return hold(await writeLease(lock, { holder, found, renewedAt, deadlineMs: API_DEADLINE_MS }), tried)
        }
        reason = { code: 'document-locked', lease, namespace, holder: found?.holder ?? '' }
        waitMs = Math.min(LOOK_EVERY_MS, leftMs)
      } catch (error) {
        own = undefined
        reason = { code: 'document-not-locked', lease, namespace, because: reasonOf(error) }
        // Another process was faster: the next look tells which.
        if (isConflict(error)) waitMs = AFTER_CONFLICT_MS
      }
      if (clock.now() + waitMs >= endAt) throw new Withheld(reason)
      await pause(clock, waitMs)
    }
  }

  function instant(): Instant {
    return { at: clock.now(), wallAt: clock.wallNow() }
  }

  function hold(record: LeaseRecord, { at, wallAt }: Instant): HeldDocument {
    function leave(): void {
      own = undefined
      seen = { record, since: at }
    }
    leave()
    return {
      assertFresh() {
        // The monotonic clock stands still while a machine sleeps.
        const passedMs = Math.max(clock.now() - at, clock.wallNow() - wallAt)
        if (passedMs > LEAVES_WITHIN_MS) throw new Withheld({ code: 'document-lock-old', lease, namespace })
      },
      async giveBack() {
        turn.until = clock.now()
        try {
          own = await writeLease(lock, { holder: '', found: record, renewedAt: clock.wallNow(), deadlineMs: API_DEADLINE_MS })
          seen = { record: own, since: clock.now() }
        } catch {
          // It runs out.
        }
      },
      leave,
    }
  }

  return { take }
}
