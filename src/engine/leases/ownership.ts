import { KubeError } from '../../kube/errors.ts'
import type { KubeClient } from '../../kube/client.ts'
import { pause } from '../../kube/pause.ts'
import type { Clock } from '../../ports/clock.ts'
import { RunError } from '../errors.ts'
import type { LeaseRecord } from './lease.ts'
import { LARGEST_EPOCH, LEASE_DURATION_MS, leaseBody, leasePath, leaseRecord, RENEW_EVERY_MS } from './lease.ts'
import type { Order } from '../orders/order.ts'
import { ORDER_ANNOTATION, readOrder } from '../orders/order.ts'
import { readLease, readLeasePatiently } from './read-lease.ts'

/** Between the end of an owner's right by its own clock and a newcomer's: two clocks do not run quite alike. */
export const PAUSE_MS = 1_000
const LOOK_EVERY_MS = 1_000
/** A renewal that meets a write of its own, or of a person, is asked for once more. */
const MOST_CONFIRMATIONS = 2

/** The right to change one workload's pods and their targets. */
export interface Ownership {
  readonly lease: string
  /** Of the Lease: one that is made anew counts anew. */
  readonly uid: string
  /** Larger than that of every owner before. */
  readonly epoch: number
  /** The `resourceVersion` of the Lease that was taken; undefined where there was none. */
  readonly takenFrom: string | undefined
  /** The largest epoch that was known when it was first asked for: a journal that has seen more is another's, who came meanwhile. */
  readonly floor: number
  /** There was no owner before, as far as was known then. */
  readonly isFirst: boolean
  /** What stood on the Lease when it was last read or renewed. */
  readonly order: Order | undefined
  /**
   * This process may act now: its last renewal, counted from before it was sent, will not have run out in so many
   * milliseconds, 0 unless given. Where the wall clock alone says no, it is renewed at once, and not when that is due.
   */
  isHeld(forMs?: number): boolean
  /** The same, asked of the API server where it has run out: after a stall another may have the Lease. Does not throw. */
  confirm(): Promise<boolean>
  /** Renews it no more: the next owner waits until it has run out. Does not throw. */
  leave(): Promise<void>
  /** Gives the Lease back, so that the next owner need not wait; without the order where that is done with. Does not throw. */
  release(ending?: { isDone(order: Order): boolean }): Promise<void>
}

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

export interface OwnershipOptions {
  client: KubeClient
  clock: Clock
  namespace: string
  lease: string
  /** Names the process; unique. */
  holder: string
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
  /**
   * It had run out, as after a stall of this process, and nobody else has taken it: it counts as held again once this has
   * resolved. What was observed before says nothing of now.
   */
  onRegained(): Promise<void>
  /** Another owner has it: nothing may be changed any more. */
  onLost(reason: string): void
  /** `order` is another than before. */
  onOrder(): void
  onTrouble(error: Error): void
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
  const read = (): Promise<LeaseRecord | undefined> => readLease(client, namespace, lease)
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
          `another run has this workload: ${found.holder} holds the Lease ${lease} and has just renewed it${pausedWords(found)}`,
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
    if (taken) return hold(taken, until, found?.resourceVersion)
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

  function hold(first: LeaseRecord, firstUntil: LeaseEnd, takenFrom: string | undefined): Ownership {
    let record = first
    /** Of this owner alone: where somebody has written another number, the next renewal puts it right. */
    const epoch = first.transitions
    let until = firstUntil
    let lost = false
    let reason = ''
    let ended = false
    let timer: unknown
    let renewing: Promise<void> = Promise.resolve()
    let looking: Promise<void> | undefined
    /** The end of a Lease that would have been written when a renewal was tried last. */
    let tried = firstUntil
    /** The end that a renewal was begun to put off, or, where a wall clock set forward has brought it about, hurried for. */
    let hurried: LeaseEnd | undefined
    schedule(RENEW_EVERY_MS)

    function schedule(delayMs: number): void {
      clock.clearTimeout(timer)
      timer = clock.setTimeout(() => {
        renewing = renew()
      }, delayMs)
    }

    async function renew(): Promise<void> {
      // One at a time: the second would meet the first's write, and say that there was trouble.
      clock.clearTimeout(timer)
      hurried = until
      const wasHeld = !isOver(until, clock)
      // Stopped once more since that look began, for long enough: it says nothing of what happened then.
      if (isOver(tried, clock)) looking = undefined
      const renewed = leaseEnd(clock)
      tried = renewed
      try {
        observe(leaseRecord(await write({ holder, annotations: record.annotations })))
        const counts = wasHeld || (await hasLookedAnew())
        if (counts) until = renewed
        if (!ended) schedule(counts ? RENEW_EVERY_MS : LOOK_EVERY_MS)
      } catch (error) {
        const conflict = error instanceof KubeError && (error.kind === 'conflict' || error.status === 404)
        const isTaken = conflict && !(await isStillOurs())
        // Still ours, and its version has moved on: an order does that, or several in a row, of which nothing may be left to see.
        if (!conflict || isTaken) options.onTrouble(error as Error)
        if (isTaken) return options.onLost(reason)
        if (!ended) schedule(LOOK_EVERY_MS)
      }
    }

    /** In time for the next renewal, which goes on waiting for the same look: of many pods it may take longer. */
    async function hasLookedAnew(): Promise<boolean> {
      const over = new AbortController()
      looking ??= options.onRegained()
      const late = pause(clock, RENEW_EVERY_MS, over.signal).then(() => false)
      const isSeen = await Promise.race([looking.then(() => true), late])
      over.abort()
      if (isSeen) looking = undefined
      return isSeen
    }

    function observe(now: LeaseRecord): void {
      const before = orderText(record)
      record = now
      if (orderText(now) !== before) options.onOrder()
    }

    /** The version moved on: by a renewal of our own whose answer was lost, by a person's edit, or by another owner. */
    async function isStillOurs(): Promise<boolean> {
      try {
        const now = await read()
        if (now?.holder === holder) {
          observe(now)
          return true
        }
        lost = true
        reason = takenWords(lease, now)
        return false
      } catch (error) {
        options.onTrouble(error as Error)
        return true
      }
    }

    function write(written: Pick<Parameters<typeof leaseBody>[0], 'holder' | 'isGivenBack' | 'annotations'>): Promise<unknown> {
      const renewedAt = clock.wallNow()
      const body = leaseBody({ namespace, name: lease, transitions: epoch, renewedAt, found: record, ...written })
      return client.replace(path, body, { deadlineMs: RENEW_EVERY_MS })
    }

    async function giveBack(isDone: (order: Order) => boolean): Promise<void> {
      const clear = (): Promise<unknown> => {
        const order = readOrder(record.annotations)
        const { [ORDER_ANNOTATION]: _, ...others } = record.annotations
        const annotations = order && isDone(order) ? others : record.annotations
        return write({ holder: '', isGivenBack: true, annotations })
      }
      try {
        await clear()
      } catch (error) {
        // A renewal whose answer was lost may have moved the version on.
        const now = isConflict(error) ? await read() : undefined
        // That is what was asked for: an earlier try may have arrived without an answer.
        if (now?.holder === '') return
        if (now?.holder !== holder) throw error
        record = now
        await clear()
      }
    }

    function isHeld(forMs = 0): boolean {
      if (lost || ended) return false
      if (!isOver(until, clock, forMs)) return true
      // Found by simulation: a load balancer was reloaded in the seconds until the next renewal, and not drained again.
      if (clock.now() + forMs < until.at && hurried !== until) {
        hurried = until
        schedule(0)
      }
      return false
    }

    return {
      lease,
      uid: first.uid,
      epoch,
      takenFrom,
      ...known,
      get order() {
        return readOrder(record.annotations)
      },
      isHeld,
      async confirm() {
        await renewing
        for (let tries = 0; tries < MOST_CONFIRMATIONS; tries++) {
          if (isHeld() || lost) break
          renewing = renew()
          await renewing
        }
        return isHeld()
      },
      async leave() {
        ended = true
        clock.clearTimeout(timer)
        await renewing
      },
      async release({ isDone } = { isDone: () => false }) {
        ended = true
        clock.clearTimeout(timer)
        await renewing
        if (lost) return
        // Found by chaos: the API server was being restarted, and whoever came next waited for the whole life of the Lease.
        const lastAt = clock.now() + RENEW_EVERY_MS
        for (;;) {
          try {
            return await giveBack(isDone)
          } catch (error) {
            if (isConflict(error) || clock.now() >= lastAt) return options.onTrouble(error as Error)
            await pause(clock, LOOK_EVERY_MS)
          }
        }
      },
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
  const where = record === undefined ? 'the journal of a pod' : `the journal of pod/${record}`
  throw new RunError(
    'preflight',
    `${where} names the epoch ${epochFloor}, and the Lease ${lease} cannot count beyond ${LARGEST_EPOCH}: somebody has edited it; see that the pod is in rotation, remove its journal with no run at work, and run again`,
  )
}

function countedOut({ transitions }: LeaseRecord, { namespace, lease, epochFloor }: OwnershipOptions): RunError {
  const patch = JSON.stringify({ spec: { leaseTransitions: epochFloor() } })
  return new RunError(
    'preflight',
    `the Lease ${lease} cannot be taken: its leaseTransitions is ${transitions}, and there is no larger number for the next owner: somebody has edited it; with no run at work, set it back: kubectl patch lease ${lease} -n ${namespace} --type merge -p '${patch}'`,
  )
}

/** It will not be over by itself. */
function pausedWords({ annotations }: LeaseRecord): string {
  const given = readOrder(annotations)
  return given?.order === 'pause'
    ? `; it is paused by ${given.by}, until sluice resume or sluice abort of the same workloads`
    : ''
}

function takenWords(lease: string, now: LeaseRecord | undefined): string {
  if (now === undefined) return `the Lease ${lease} was deleted`
  if (now.holder === '')
    return `the Lease ${lease} is nobody’s any more: another owner has given it back, or somebody has cleared it`
  return `${now.holder} has taken the Lease ${lease}`
}

/** When a Lease that is written now runs out, on both clocks. */
interface LeaseEnd {
  at: number
  wallAt: number
}

function leaseEnd(clock: Clock): LeaseEnd {
  return { at: clock.now() + LEASE_DURATION_MS, wallAt: clock.wallNow() + LEASE_DURATION_MS }
}

/**
 * The monotonic clock stands still while a machine sleeps (Linux), and others take the Lease meanwhile. A wall clock that is
 * set forward ends it too soon: one renewal, and one look.
 */
function isOver({ at, wallAt }: LeaseEnd, clock: Clock, forMs = 0): boolean {
  return clock.now() + forMs >= at || clock.wallNow() + forMs >= wallAt
}

function isConflict(error: unknown): boolean {
  return error instanceof KubeError && error.kind === 'conflict'
}

/** It may have been written, or no byte left. */
function isUnanswered(error: unknown): boolean {
  return error instanceof KubeError && (error.kind === 'ambiguous' || (error.kind === 'definite' && error.status === undefined))
}

function orderText({ annotations }: LeaseRecord): string | undefined {
  return annotations[ORDER_ANNOTATION]
}

/** Its version moves on with an order too, which anybody may write: that is no sign that its owner lives. */
export function isRenewed(before: LeaseRecord, now: LeaseRecord): boolean {
  if (before.resourceVersion === now.resourceVersion) return false
  return orderText(before) === orderText(now) || before.renewTime !== now.renewTime
}
