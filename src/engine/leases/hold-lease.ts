import type { Reason } from '../../reasons/reason.ts'
import type { KubeClient } from '../../kube/client.ts'
import { isConflict, KubeError } from '../../kube/errors.ts'
import { pause } from '../../kube/pause.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Order } from '../orders/order.ts'
import { ORDER_ANNOTATION, orderText, readOrder } from '../orders/order.ts'
import type { LeaseRecord } from './lease.ts'
import { LEASE_DURATION_MS, leaseBody, leasePath, leaseRecord, LOOK_EVERY_MS, RENEW_EVERY_MS } from './lease.ts'
import { readLease } from './read-lease.ts'

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
  /**
   * The same, asked of the API server where it has run out: after a stall another may have the Lease, and it is false then; undefined
   * where the API server does not say. Does not throw.
   */
  confirm(): Promise<boolean | undefined>
  /**
   * Reads it anew, so that an order on it is known now and not with the next renewal. False where it could not be read. Does not
   * throw.
   */
  hear(): Promise<boolean>
  /** Renews it no more: the next owner waits until it has run out. Does not throw. */
  leave(): Promise<void>
  /** Gives the Lease back, so that the next owner need not wait; without the order where that is done with. Does not throw. */
  release(ending?: { isDone(order: Order): boolean }): Promise<void>
}

/** What an owner does with its Lease, and hears of it. */
export interface HoldOptions {
  client: KubeClient
  clock: Clock
  namespace: string
  lease: string
  /** Names the process; unique. */
  holder: string
  /**
   * It had run out, as after a stall of this process, and nobody else has taken it: it counts as held again once this has
   * resolved. What was observed before says nothing of now.
   */
  onRegained(): Promise<void>
  /** Another owner has it: nothing may be changed any more. */
  onLost(reason: Reason): void
  /** `order` is another than before. */
  onOrder(): void
  onTrouble(error: Error): void
}

/** What was taken: a Lease as it was written, and when it runs out. */
interface TakenLease extends Pick<Ownership, 'takenFrom' | 'floor' | 'isFirst'> {
  record: LeaseRecord
  until: LeaseEnd
}

/** Renews the Lease until it is lost, left or given back. */
export function holdLease(options: HoldOptions, { record: first, until: firstUntil, ...known }: TakenLease): Ownership {
  const { client, clock, namespace, lease, holder } = options
  const path = leasePath(namespace, lease)
  const read = (): Promise<LeaseRecord | undefined> => readLease(client, namespace, lease)
  let record = first
  /** Of this owner alone: where somebody has written another number, the next renewal puts it right. */
  const epoch = first.transitions
  let until = firstUntil
  let lost = false
  let reason: Reason = { code: 'lease-lost' }
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
    const before = orderText(record.annotations)
    record = now
    if (orderText(now.annotations) !== before) options.onOrder()
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
      reason = takenBy(lease, now)
      return false
    } catch (error) {
      options.onTrouble(error as Error)
      return true
    }
  }

  async function look(): Promise<void> {
    if (!(await isStillOurs())) options.onLost(reason)
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
      return isHeld() || (lost ? false : undefined)
    },
    async hear() {
      await renewing
      if (ended || lost) return true
      const before = record
      // A caller that waits for a renewal waits for this look too.
      renewing = look()
      await renewing
      return lost || record !== before
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

function takenBy(lease: string, now: LeaseRecord | undefined): Reason {
  return { code: 'lease-taken', lease, ...(now === undefined ? {} : { holder: now.holder }) }
}

/** When a Lease that is written now runs out, on both clocks. */
export interface LeaseEnd {
  at: number
  wallAt: number
}

export function leaseEnd(clock: Clock): LeaseEnd {
  return { at: clock.now() + LEASE_DURATION_MS, wallAt: clock.wallNow() + LEASE_DURATION_MS }
}

/**
 * The monotonic clock stands still while a machine sleeps (Linux), and others take the Lease meanwhile. A wall clock that is
 * set forward ends it too soon: one renewal, and one look.
 */
function isOver({ at, wallAt }: LeaseEnd, clock: Clock, forMs = 0): boolean {
  return clock.now() + forMs >= at || clock.wallNow() + forMs >= wallAt
}
