import type { Reason } from '../../reasons/reason.ts'
import type { KubeClient } from '../../kube/client.ts'
import { isConflict, KubeError } from '../../kube/errors.ts'
import { pause } from '../../kube/pause.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Order } from '../orders/order.ts'
import { ORDER_ANNOTATION, orderText, readOrder } from '../orders/order.ts'
import { isOver, type LeaseEnd, leaseEnd } from '../../leases/lease-end.ts'
import type { LeaseRecord } from '../../leases/lease.ts'
import { leaseBody, leasePath, leaseRecord, LOOK_EVERY_MS, RENEW_EVERY_MS } from '../../leases/lease.ts'
import { readLease } from '../../leases/read-lease.ts'

/** The tries of a confirmation. A renewal can conflict with an earlier write of its own, or with an edit. */
const MOST_CONFIRMATIONS = 2

/** The right to change one workload's pods and their targets. */
export interface Ownership {
  readonly lease: string
  /** The uid of the Lease. Another Lease counts epochs anew. */
  readonly uid: string
  /** The epoch, larger than that of every earlier owner. */
  readonly epoch: number
  /** The `resourceVersion` of the Lease before it was taken. Undefined where there was no Lease. */
  readonly takenFrom: string | undefined
  /** The largest epoch that was known at the first try. A larger epoch in a journal is that of another owner that came meanwhile. */
  readonly floor: number
  /** No earlier owner was known. */
  readonly isFirst: boolean
  /** The orders on the Lease at its last reading or renewal. */
  readonly order: Order | undefined
  /**
   * Reports whether this process may act for the next `forMs` milliseconds (default 0). The right counts from before the last renewal was
   * sent. Where the wall clock alone denies the right, a renewal is sent at once.
   */
  isHeld(forMs?: number): boolean
  /**
   * The same, with a request to the API server where the right has run out. False: another owner has the Lease. Undefined: the API server
   * does not answer. Does not throw.
   */
  confirm(): Promise<boolean | undefined>
  /** Reads the Lease anew, so that an order counts before the next renewal. False where the Lease could not be read. Does not throw. */
  hear(): Promise<boolean>
  /** Stops the renewals. The next owner waits until the Lease has run out. Does not throw. */
  leave(): Promise<void>
  /** Gives the Lease back, so that the next owner need not wait. An order that is done is removed. Does not throw. */
  release(ending?: { isDone(order: Order): boolean }): Promise<void>
}

/** The options of an owner, with its callbacks. */
export interface HoldOptions {
  client: KubeClient
  clock: Clock
  namespace: string
  lease: string
  /** The unique name of the process. */
  holder: string
  /**
   * Called when the Lease had run out, as after a stall of this process, and no other owner has taken it. The Lease counts as held once the
   * promise resolves, since earlier observations may be outdated.
   */
  onRegained(): Promise<void>
  /** Called when another owner has the Lease. This process must change nothing any more. */
  onLost(reason: Reason): void
  /** Called when `order` has changed. */
  onOrder(): void
  onTrouble(error: Error): void
}

/** The Lease that was taken, as it was written, and the time at which it runs out. */
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
  /** The epoch of this owner. The next renewal corrects a number that was edited. */
  const epoch = first.transitions
  let until = firstUntil
  let lost = false
  let reason: Reason = { code: 'lease-lost' }
  let ended = false
  let timer: unknown
  let renewing: Promise<void> = Promise.resolve()
  let looking: Promise<void> | undefined
  /** The end that the last tried renewal would have set. */
  let tried = firstUntil
  /** The end that a renewal was begun, or hurried, to put off. */
  let hurried: LeaseEnd | undefined
  schedule(RENEW_EVERY_MS)

  function schedule(delayMs: number): void {
    clock.clearTimeout(timer)
    timer = clock.setTimeout(() => {
      renewing = renew()
    }, delayMs)
  }

  async function renew(): Promise<void> {
    // Renewals run one at a time. A second one would conflict with the write of the first.
    clock.clearTimeout(timer)
    hurried = until
    const wasHeld = !isOver(until, clock)
    // A second stall, since that look began, makes the look outdated.
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
      // The Lease is still this owner's, and its version has moved on by orders. The conflict is no trouble.
      if (!conflict || isTaken) options.onTrouble(error as Error)
      if (isTaken) return options.onLost(reason)
      if (!ended) schedule(LOOK_EVERY_MS)
    }
  }

  /**
   * Reports whether the look is done before the next renewal. A look at many pods takes longer, and the next renewal waits for the same
   * look.
   */
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

  /** Reads the Lease after a conflict. The cause can be a renewal of this owner without an answer, an edit, or another owner. */
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
      // A renewal without an answer may have changed the version.
      const now = isConflict(error) ? await read() : undefined
      // An earlier try may have arrived without an answer.
      if (now?.holder === '') return
      if (now?.holder !== holder) throw error
      record = now
      await clear()
    }
  }

  function isHeld(forMs = 0): boolean {
    if (lost || ended) return false
    if (!isOver(until, clock, forMs)) return true
    // The right ends by the wall clock alone. A renewal now, and not in some seconds, keeps drains after a reload in time.
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
      // A caller that waits for a renewal also waits for this look.
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
      // The release is retried through a short outage of the API server. Otherwise the next owner would wait for the whole life of the
      // Lease.
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
