import type { KubeClient } from '../kube/client.ts'
import { isConflict, KubeError } from '../kube/errors.ts'
import { pause } from '../kube/pause.ts'
import {
  LARGEST_EPOCH,
  LEASE_DURATION_MS,
  leaseBody,
  leasePath,
  type LeaseRecord,
  leaseRecord,
  PAUSE_MS,
  RENEW_EVERY_MS,
} from '../leases/lease.ts'
import { isOver, type LeaseEnd, leaseEnd } from '../leases/lease-end.ts'
import { readLease } from '../leases/read-lease.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'

export interface LeaderOptions {
  client: KubeClient
  clock: Clock
  random: Random
  namespace: string
  /** The name of the Lease. */
  name: string
  /** The name of this replica, different for each process: two runs of a container in one pod are two processes. */
  identity: string
  signal: AbortSignal
  onChange?(isLeader: boolean): void
  onError?(error: Error): void
  /** Awaited after the signal and before the Lease is given back. Writes that are under way must have ended by then. */
  beforeRelease?(): Promise<unknown>
}

/** One of several replicas leads: the holder of a Lease. */
export interface Leader {
  /** False from the moment at which another replica may lead, by the clock of this process. */
  isLeader(): boolean
  /** Throws a NotLeading where this replica does not lead now. To be called right before the bytes of a write leave. */
  assertLeader(): void
  /** The identity of the replica that leads, as last seen. Undefined where no replica does, or none was seen yet. */
  holder(): string | undefined
  /** Resolves after the signal, once the Lease is released. */
  ended: Promise<void>
}

/** This replica does not lead, so that a write of its own may meet one of the replica that does. */
export class NotLeading extends Error {
  override readonly name = 'NotLeading'
  readonly component = 'leadership'
  readonly lease: string
  constructor(lease: string) {
    super(`lease ${lease}: not the holder`)
    this.lease = lease
  }
}

/** A Lease that nobody renews, and a missing one, are taken after this time, by the default duration of a Lease. */
export const TAKEN_AFTER_MS = LEASE_DURATION_MS + PAUSE_MS

/** The pause between two looks at a Lease of another replica, and after a failure, give or take a quarter. */
const LOOK_EVERY_MS = 2_000
/** The pause after a refusal: an operator may give the right meanwhile. */
const REFUSED_AGAIN_AFTER_MS = 10_000
/** The pause before a renewal that failed is tried again. */
const RENEW_AGAIN_AFTER_MS = 1_000
/** The deadline of a call. A renewal that is not answered within it is tried again while the Lease lives. */
const CALL_DEADLINE_MS = 4_000

/**
 * Takes part in the election until the signal, and then gives the Lease back. A Lease that another replica holds, a Lease without a holder
 * and a missing Lease are taken only after a whole life of a Lease in which no renewal was seen: a Lease that was deleted may still be held.
 * A new leader has to look anew at what it writes about, since another replica may have led before.
 */
export function electLeader(options: LeaderOptions): Leader {
  const { client, clock, random, namespace, name, identity, signal } = options
  const path = leasePath(namespace, name)
  /** The Lease as this replica has written it, while the Lease counts as held. */
  let held: LeaseRecord | undefined
  let until: LeaseEnd | undefined
  /** The last reading of the Lease, or of its absence, and the time since which no renewal was seen. */
  let seen: { record: LeaseRecord | undefined; since: number } | undefined
  /** A write of this replica may have arrived without an answer, so that a Lease in its name is its own. */
  let isTried = false
  let told = false
  let ending: unknown
  let wake = (): void => {}
  /** The end that a renewal was hurried to put off. */
  let hurried: LeaseEnd | undefined

  function isLeader(): boolean {
    if (held === undefined || until === undefined || signal.aborted) return false
    if (!isOver(until, clock)) return true
    // A wall clock that is set forward ends the right too soon. A renewal shows that it goes on.
    if (clock.now() < until.at && hurried !== until) {
      hurried = until
      wake()
    }
    return false
  }

  function tell(): void {
    clock.clearTimeout(ending)
    const isLeading = isLeader()
    if (isLeading && until !== undefined) ending = clock.setTimeout(tell, Math.max(0, until.at - clock.now()))
    if (isLeading === told) return
    told = isLeading
    options.onChange?.(isLeading)
  }

  function lose(now: LeaseRecord | undefined): void {
    held = undefined
    until = undefined
    seen = { record: now, since: clock.now() }
    tell()
  }

  function hold(record: LeaseRecord, end: LeaseEnd): void {
    held = record
    until = end
    isTried = false
    tell()
  }

  /** The time until the Lease may be taken, by what this process has seen. */
  function remainingMs(found: LeaseRecord | undefined): number {
    if (found !== undefined && (found.isGivenBack || (isTried && found.holder === identity))) return 0
    if (seen === undefined || isOtherLife(seen.record, found)) seen = { record: found, since: clock.now() }
    return seen.since + (found?.durationMs ?? LEASE_DURATION_MS) + PAUSE_MS - clock.now()
  }

  function write(found: LeaseRecord | undefined, holder: string, transitions: number): Promise<unknown> {
    const body = leaseBody({
      namespace,
      name,
      holder,
      isGivenBack: holder === '',
      transitions,
      renewedAt: clock.wallNow(),
      found,
      annotations: found?.annotations ?? {},
    })
    const limits = { deadlineMs: CALL_DEADLINE_MS, once: true }
    return found === undefined ? client.create(leasePath(namespace), body, limits) : client.replace(path, body, limits)
  }

  function read(): Promise<LeaseRecord | undefined> {
    return readLease(client, namespace, name, { deadlineMs: CALL_DEADLINE_MS })
  }

  /** Looks at the Lease, and takes it where that is due. Resolves with the pause before the next step. */
  async function seek(): Promise<number> {
    const found = await read()
    const waitMs = remainingMs(found)
    if (waitMs > 0) return Math.min(waitMs, jitter(LOOK_EVERY_MS))
    const end = leaseEnd(clock)
    const before = found?.transitions ?? 0
    isTried = true
    hold(leaseRecord(await write(found, identity, before < LARGEST_EPOCH ? before + 1 : 1)), end)
    return RENEW_EVERY_MS
  }

  /** Renews the Lease. Resolves with the pause before the next step. */
  async function renew(record: LeaseRecord): Promise<number> {
    const end = leaseEnd(clock)
    hurried = until
    try {
      hold(leaseRecord(await write(record, identity, record.transitions)), end)
      return RENEW_EVERY_MS
    } catch (error) {
      if (!isConflict(error) && !isGone(error)) throw error
    }
    // An edit of the Lease, or an earlier renewal without an answer, has moved the version on.
    const now = await read()
    if (now?.holder === identity && now.uid === record.uid) held = now
    else lose(now)
    return 0
  }

  function failed(error: unknown): number {
    if (!signal.aborted) options.onError?.(error instanceof Error ? error : new Error(String(error)))
    if (held !== undefined) return RENEW_AGAIN_AFTER_MS
    // Another replica was faster.
    if (isConflict(error)) return jitter(LOOK_EVERY_MS)
    const { kind, status } = error instanceof KubeError ? error : { kind: undefined, status: undefined }
    return kind === 'definite' && status !== undefined ? REFUSED_AGAIN_AFTER_MS : jitter(LOOK_EVERY_MS)
  }

  function jitter(ms: number): number {
    return ms * (0.75 + random.next() / 2)
  }

  async function sleep(ms: number): Promise<void> {
    const over = new AbortController()
    const stop = (): void => over.abort()
    wake = stop
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    await pause(clock, ms, over.signal)
    signal.removeEventListener('abort', stop)
    wake = () => {}
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      let againMs: number
      try {
        againMs = await (held === undefined ? seek() : renew(held))
      } catch (error) {
        againMs = failed(error)
      }
      tell()
      await sleep(againMs)
    }
    tell()
    try {
      await options.beforeRelease?.()
    } catch (error) {
      options.onError?.(error as Error)
    }
    await release()
  }

  /** Tried for as long as a renewal, since the next leader waits for the whole life of the Lease otherwise. Does not reject. */
  async function release(): Promise<void> {
    const lastAt = clock.now() + RENEW_EVERY_MS
    let record = held
    for (;;) {
      try {
        // A Lease that was tried for without an answer may be this replica's.
        record ??= isTried ? await read() : undefined
        if (record?.holder !== identity) return
        await write(record, '', record.transitions)
        return
      } catch (error) {
        if (clock.now() >= lastAt) return options.onError?.(error as Error)
        // The Lease is read anew: a renewal without an answer has moved its version on, or this write has arrived.
        record = undefined
        isTried = true
        await pause(clock, RENEW_AGAIN_AFTER_MS)
      }
    }
  }

  return {
    isLeader,
    assertLeader() {
      if (!isLeader()) throw new NotLeading(name)
    },
    holder: () => (isLeader() ? identity : seen?.record?.holder || undefined),
    ended: run(),
  }
}

/** Reports whether the Lease was renewed, taken, deleted or made between two readings. An annotation is no sign of life. */
function isOtherLife(before: LeaseRecord | undefined, now: LeaseRecord | undefined): boolean {
  if (before === undefined || now === undefined) return before !== now
  return before.uid !== now.uid || before.holder !== now.holder || before.renewTime !== now.renewTime
}

function isGone(error: unknown): boolean {
  return error instanceof KubeError && error.status === 404
}
