import { isConflict } from '../../kube/errors.ts'
import { pause } from '../../kube/pause.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import type { Reason } from '../../reasons/reason.ts'
import { reasonOf, Withheld } from '../errors.ts'
import { LEASE_DURATION_MS, type LeaseRecord, LOOK_EVERY_MS } from '../leases/lease.ts'
import { isRenewed, PAUSE_MS } from '../leases/ownership.ts'
import { readLease } from '../leases/read-lease.ts'
import type { DocumentLock } from '../request.ts'
import { token } from '../token.ts'
import { CALL_LIFE_MS } from '../traffic/scope-queues.ts'
import { documentLease, writeLease } from './document-lease.ts'

/** For one call to the API server. */
const API_DEADLINE_MS = 4_000
/** The shortest pause between two looks; the longest is three times as long. */
const SHORTEST_LOOK_MS = LOOK_EVERY_MS / 4
/** A process that has call upon call lets others have a turn after so long. */
const LONGEST_TURN_MS = 3_000
/** Longer than the pause between two looks of another process. */
const BETWEEN_TURNS_MS = LOOK_EVERY_MS + LOOK_EVERY_MS / 2
/** The Lease is not renewed: what leaves later than this may live longer than the Lease does. */
const LEAVES_WITHIN_MS = LEASE_DURATION_MS - CALL_LIFE_MS
/** A program that ignores its end lives for so long after its deadline. */
const ENDS_LATE_MS = 3_000
const TOKEN_LENGTH = 6

/** The right to write a document, for one call. */
export interface HeldDocument {
  /** Throws a Withheld where a call that leaves now may outlive the Lease. */
  assertFresh(): void
  /** Milliseconds that a call which begins now may live. */
  leftMs(): number
  /** The next writer need not wait. Does not throw: a Lease that cannot be given back runs out. */
  giveBack(): Promise<void>
  /** The Lease runs out by itself: what was sent may arrive until then. */
  leave(): void
}

export interface Wanted {
  /** An instant of the clock, after which the Lease is not tried any more. */
  until: number
  /** Throws where the call is not to be made any more. */
  assertLive(): void
  signal: AbortSignal
}

/** The Lease of one document, as one process takes it: one call at a time. */
export interface DocumentTurns {
  /** Rejects with a Withheld where the Lease is not to be had in time, and with what `assertLive` throws. */
  take(wanted: Wanted): Promise<HeldDocument>
}

interface Instant {
  at: number
  wallAt: number
}

export interface TurnsOptions {
  clock: Clock
  random: Random
  /** Names the process, for people. */
  identity: string
}

export function createDocumentTurns(lock: DocumentLock, { clock, random, identity }: TurnsOptions): DocumentTurns {
  const { client, namespace } = lock
  const lease = documentLease(lock)
  // No two processes have one name, whatever hosts and containers are called.
  const name = `${identity}_${token(random, TOKEN_LENGTH)}`
  /** As this process has given it back: nobody may have written it since. */
  let own: LeaseRecord | undefined
  /** The Lease as it was seen last, or that there was none any more, and since when nobody has renewed it. */
  let seen: { record: LeaseRecord | undefined; since: number } | undefined
  /** Holders of this process that have sent nothing: their Lease was written, and no answer came in time. */
  const idle = new Set<string>()
  let calls = 0
  /** Since when, and until when, this process has had call upon call. */
  let turn = { since: clock.now(), until: clock.now() }

  async function letOthers(signal: AbortSignal): Promise<void> {
    const isNew = clock.now() - turn.until >= BETWEEN_TURNS_MS
    if (!isNew && clock.now() - turn.since < LONGEST_TURN_MS) return
    if (!isNew) await pause(clock, BETWEEN_TURNS_MS, signal)
    turn = { since: clock.now(), until: clock.now() }
  }

  /** How long its holder may live still, as far as this process has seen. */
  function remainingMs(found: LeaseRecord | undefined): number {
    const now = clock.now()
    if (found === undefined && seen === undefined) return 0
    if (found?.isGivenBack === true || (found !== undefined && idle.has(found.holder))) return 0
    const isSame = found === undefined ? seen?.record === undefined : seen?.record && !isRenewed(seen.record, found)
    // A Lease that somebody has deleted, or whose holder somebody has cleared, may be held all the same.
    if (!isSame) seen = { record: found, since: now }
    return seen!.since + (found?.durationMs ?? LEASE_DURATION_MS) + PAUSE_MS - now
  }

  async function take({ until, assertLive, signal }: Wanted): Promise<HeldDocument> {
    await letOthers(signal)
    // Of this call alone: a Lease that an earlier call has left is another's.
    const holder = `${name} ${(calls += 1)}`
    const deadlineMs = (): number => Math.max(1, Math.min(API_DEADLINE_MS, until - clock.now()))
    /** The oldest write that may still succeed, and the version that it replaces. */
    let tried: (Instant & { version: string | undefined }) | undefined
    // Another call of this process has had the Lease until now.
    let reason: Reason = { code: 'document-locked', lease, namespace, holder: name }
    while (clock.now() < until && !signal.aborted) {
      assertLive()
      let waitMs = SHORTEST_LOOK_MS * (1 + 2 * random.next())
      try {
        const found = own ?? (await readLease(client, namespace, lease, { deadlineMs: deadlineMs() }))
        if (tried !== undefined && found?.holder === holder) return hold(found, tried)
        if (tried?.version !== found?.resourceVersion) tried = undefined
        const leftMs = remainingMs(found)
        if (leftMs <= 0) {
          tried ??= { ...instant(), version: found?.resourceVersion }
          const renewedAt = clock.wallNow()
          return hold(await writeLease(lock, { holder, found, renewedAt, deadlineMs: deadlineMs() }), tried)
        }
        reason = { code: 'document-locked', lease, namespace, holder: found?.holder ?? '' }
        waitMs = Math.min(waitMs, leftMs)
      } catch (error) {
        own = undefined
        reason = { code: 'document-not-locked', lease, namespace, because: reasonOf(error) }
        // Another process was faster: the next look tells which.
        if (isConflict(error)) waitMs /= 2
      }
      await pause(clock, Math.min(waitMs, until - clock.now()), signal)
    }
    if (tried !== undefined) idle.add(holder)
    throw new Withheld(reason)
  }

  function instant(): Instant {
    return { at: clock.now(), wallAt: clock.wallNow() }
  }

  function hold(record: LeaseRecord, { at, wallAt }: Instant): HeldDocument {
    // The monotonic clock stands still while a machine sleeps.
    const passedMs = (): number => Math.max(clock.now() - at, clock.wallNow() - wallAt)
    function leave(): void {
      own = undefined
      seen = { record, since: at }
    }
    leave()
    return {
      assertFresh() {
        if (passedMs() > LEAVES_WITHIN_MS) throw new Withheld({ code: 'document-lock-old', lease, namespace })
      },
      leftMs: () => Math.max(0, LEASE_DURATION_MS - ENDS_LATE_MS - passedMs()),
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
