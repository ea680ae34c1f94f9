import { z } from 'zod'
import { RunError } from '../errors.ts'

/*
 * What somebody wants of the runs that are open on a workload. It is kept as an annotation of the Lease: the owner reads
 * it from the answers of its own renewals, and where the owner is dead it is there for the next one. It is a level, not
 * an event: an order holds as long as it stands there, and without one a run goes on.
 */

export const ORDER_ANNOTATION = 'sluice.dev/order'

export interface SingleOrder {
  /**
   * - `pause`: start no new pod, bring home what is under way, and hold
   * - `abort`: end the run; put back what is not patched, bring home what is, and put the template back
   */
  order: 'pause' | 'abort'
  /** The runs that were open when it was given. */
  runs: string[]
  /** Who gave it, such as HOST_PID; for display. */
  by: string
  /**
   * Of the owner that had the Lease of what was asked for when it was given: the run that this one was about to begin is meant too,
   * and that of no other owner. Absent where nobody had it.
   */
  epoch?: number
}

/** All that stands on a Lease. */
export interface Order extends SingleOrder {
  /** Of other runs: none is named twice. */
  others?: SingleOrder[]
}

const Single = z.object({
  order: z.enum(['pause', 'abort']),
  runs: z.array(z.string()),
  by: z.string(),
  epoch: z.number().optional(),
})
const Order = Single.extend({ v: z.literal(1), others: z.array(Single).optional() })

export function writeOrder(order: Order): string {
  return JSON.stringify({ v: 1, ...order } satisfies z.input<typeof Order>)
}

/** As it stands there, whether it can be read or not. */
export function orderText(annotations: Readonly<Record<string, string>>): string | undefined {
  return annotations[ORDER_ANNOTATION]
}

/** Undefined also where it cannot be read: nothing is stopped on a text that nobody understands. */
export function readOrder(annotations: Readonly<Record<string, string>>): Order | undefined {
  const text = annotations[ORDER_ANNOTATION]
  if (text === undefined) return undefined
  try {
    const { v: _, ...order } = Order.parse(JSON.parse(text))
    return order as Order
  } catch {
    return undefined
  }
}

/** Each by itself. */
export function ordersIn(standing: Order | undefined): SingleOrder[] {
  return standing === undefined ? [] : [standing, ...(standing.others ?? [])]
}

/**
 * What stands there once this is given. Found by reading: it was written over what had been ordered of other runs, a paused one among
 * them, which went on.
 */
export function withOrder(standing: Order | undefined, given: SingleOrder): Order {
  const rest = ordersIn(standing).map((one) => ofRuns(one, (run) => !given.runs.includes(run)))
  return together([ofRuns(given, () => true), ...rest])!
}

/** What stands there once these runs are paused no more; undefined where that is nothing. */
export function withoutPause(standing: Order | undefined, runs: readonly string[]): Order | undefined {
  return together(ordersIn(standing).map((one) => ofRuns(one, (run) => one.order !== 'pause' || !runs.includes(run))))
}

function ofRuns({ order, runs, by, epoch }: SingleOrder, isStill: (run: string) => boolean): SingleOrder {
  return { order, runs: runs.filter(isStill), by, ...(epoch === undefined ? {} : { epoch }) }
}

/** A pause before an abort: it will not be over by itself, which whoever finds the Lease held is told. */
function together(orders: readonly SingleOrder[]): Order | undefined {
  const isAbort = ({ order }: SingleOrder): number => Number(order === 'abort')
  const singles = orders.filter(({ runs }) => runs.length > 0)
  const [first, ...others] = singles.toSorted((a, b) => isAbort(a) - isAbort(b))
  return first && { ...first, ...(others.length > 0 ? { others } : {}) }
}

/** What a run has left is that of the one after it: to end it in its stead is to end that one. */
export function assertOrdered(newest: string, runs: readonly string[]): void {
  if (runs.includes(newest)) return
  throw new RunError('conflict', { code: 'begun-after-abort', run: newest, runs: [...runs] })
}

/** An abort is never taken back, so of several the abort counts. */
export function orderFor(run: string, orders: readonly (Order | undefined)[]): SingleOrder | undefined {
  const meant = orders.flatMap(ordersIn).filter(({ runs }) => runs.includes(run))
  return meant.find(({ order }) => order === 'abort') ?? meant[0]
}
