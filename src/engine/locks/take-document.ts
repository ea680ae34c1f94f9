import { isConflict } from '../../kube/errors.ts'
import { pause } from '../../kube/pause.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import type { Reason } from '../../reasons/reason.ts'
import { reasonOf, Withheld } from '../errors.ts'
import { LEASE_DURATION_MS, type LeaseRecord, LOOK_EVERY_MS } from '../../leases/lease.ts'
import { isRenewed } from '../leases/ownership.ts'
import { PAUSE_MS } from '../../leases/lease.ts'
import { readLease } from '../../leases/read-lease.ts'
import type { DocumentLock } from '../request.ts'
import { token } from '../token.ts'
import { CALL_LIFE_MS } from '../traffic/scope-queues.ts'
import { documentLease, writeLease } from './document-lease.ts'

/** The deadline of one call to the API server. */
const API_DEADLINE_MS = 4_000
/** The shortest pause between two looks. The longest is three times as long. */
const SHORTEST_LOOK_MS = LOOK_EVERY_MS / 4
/** The time after which a process with one call after another lets others have a turn. */
const LONGEST_TURN_MS = 3_000
/** The pause between turns, longer than the pause between two looks of another process. */
const BETWEEN_TURNS_MS = LOOK_EVERY_MS + LOOK_EVERY_MS / 2
/** The time within which a call must leave. The Lease is not renewed, so a later call could outlive it. */
const LEAVES_WITHIN_MS = LEASE_DURATION_MS - CALL_LIFE_MS
/** The time that a program which ignores its end lives after its deadline. */
const ENDS_LATE_MS = 3_000
const TOKEN_LENGTH = 6

/** The right to write a document, for one call. */
export interface HeldDocument {
  /** Throws a Withheld where a call that leaves now may outlive the Lease. */
  assertFresh(): void
  /** The time that a call which begins now may live, in milliseconds. */
  leftMs(): number
  /** Gives the Lease back, so that the next writer need not wait. Does not throw: otherwise the Lease runs out. */
  giveBack(): Promise<void>
  /** Leaves the Lease to run out, since the call may arrive until then. */
  leave(): void
}

export interface Wanted {
  /** The instant of the clock after which the Lease is not tried any more. */
  until: number
  /** Throws where the call is not to be made any more. */
  assertLive(): void
  signal: AbortSignal
}

/** The Lease of one document, as one process takes it, one call at a time. */
export interface DocumentTurns {
  /** Takes the Lease. Rejects with a Withheld where that fails in time, and with the error of `assertLive`. */
  take(wanted: Wanted): Promise<HeldDocument>
}

interface Instant {
  at: number
  wallAt: number
}

export interface TurnsOptions {
  clock: Clock
  random: Random
  /** The name of the process, for people. */
  identity: string
}

export function createDocumentTurns(lock: DocumentLock, { clock, random, identity }: TurnsOptions): DocumentTurns {
  const { client, namespace } = lock
  const lease = documentLease(lock)
  // The name is unique, whatever the names of hosts and containers.
  const name = `${identity}_${token(random, TOKEN_LENGTH)}`
  /** The Lease as this process gave it back. It counts until a write shows otherwise. */
  let own: LeaseRecord | undefined
  /** The last reading of the Lease, or of its absence, and the time since which no renewal was seen. */
  let seen: { record: LeaseRecord | undefined; since: number } | undefined
  /** The holders of this process that have sent nothing: their write of the Lease got no answer in time. */
  const idle = new Set<string>()
  let calls = 0
  /** The beginning and end of this process's turn of calls. */
  let turn = { since: clock.now(), until: clock.now() }

  async function letOthers(signal: AbortSignal): Promise<void> {
    const isNew = clock.now() - turn.until >= BETWEEN_TURNS_MS
    if (!isNew && clock.now() - turn.since < LONGEST_TURN_MS) return
    if (!isNew) await pause(clock, BETWEEN_TURNS_MS, signal)
    turn = { since: clock.now(), until: clock.now() }
  }

  /** The time for which the holder may still live, by the observations of this process. */
  function remainingMs(found: LeaseRecord | undefined): number {
    const now = clock.now()
    if (found === undefined && seen === undefined) return 0
    if (found?.isGivenBack === true || (found !== undefined && idle.has(found.holder))) return 0
    const isSame = found === undefined ? seen?.record === undefined : seen?.record && !isRenewed(seen.record, found)
    // A Lease that was deleted, or whose holder was cleared, may still be held.
    if (!isSame) seen = { record: found, since: now }
    return seen!.since + (found?.durationMs ?? LEASE_DURATION_MS) + PAUSE_MS - now
  }

  async function take({ until, assertLive, signal }: Wanted): Promise<HeldDocument> {
    await letOthers(signal)
    // The holder names this call alone, so that a Lease which an earlier call left counts as another's.
    const holder = `${name} ${(calls += 1)}`
    const deadlineMs = (): number => Math.max(1, Math.min(API_DEADLINE_MS, until - clock.now()))
    /** The oldest write that may still succeed, and the version that it replaces. */
    let tried: (Instant & { version: string | undefined }) | undefined
    // Another call of this process had the Lease until now.
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
        // Another process was faster. The next look comes earlier.
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
    // The monotonic clock stops while a machine sleeps.
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
          // The Lease runs out.
        }
      },
      leave,
    }
  }

  return { take }
}
