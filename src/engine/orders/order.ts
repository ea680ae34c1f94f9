import { z } from 'zod'
import { RunError } from '../errors.ts'

/*
 * The orders for the runs that are open on a workload. They are an annotation of the Lease: the owner reads it from the answers of its
 * renewals, and the next owner finds it there. An order is a level, not an event: it holds as long as it stands on the Lease.
 */

export const ORDER_ANNOTATION = 'sluice.dev/order'

export interface SingleOrder {
  /**
   * The order:
   * - `pause`: start no new pod, bring home the pods that are under way, and hold.
   * - `abort`: end the run; restore unpatched pods, bring patched ones home, and put the template back.
   */
  order: 'pause' | 'abort'
  /** The runs that the order means. */
  runs: string[]
  /** The name of the process that gave the order, such as HOST_PID, for display. */
  by: string
  /**
   * The epoch of the owner that had the Lease when the order was given. The order also means the run that this owner was about to begin.
   * Absent where the Lease had no owner.
   */
  epoch?: number
}

/** All orders on a Lease. */
export interface Order extends SingleOrder {
  /** The orders for other runs. No run is named twice. */
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

/** The text of the orders on the Lease, readable or not. */
export function orderText(annotations: Readonly<Record<string, string>>): string | undefined {
  return annotations[ORDER_ANNOTATION]
}

/** The orders on the Lease. Undefined also for a text that cannot be read: such a text stops no run. */
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

/** The orders one by one. */
export function ordersIn(standing: Order | undefined): SingleOrder[] {
  return standing === undefined ? [] : [standing, ...(standing.others ?? [])]
}

/** The orders after this one is given. Orders for other runs stay, so that a paused run does not go on. */
export function withOrder(standing: Order | undefined, given: SingleOrder): Order {
  const rest = ordersIn(standing).map((one) => ofRuns(one, (run) => !given.runs.includes(run)))
  return together([ofRuns(given, () => true), ...rest])!
}

/** The orders after the pause of these runs is lifted. Undefined where none is left. */
export function withoutPause(standing: Order | undefined, runs: readonly string[]): Order | undefined {
  return together(ordersIn(standing).map((one) => ofRuns(one, (run) => one.order !== 'pause' || !runs.includes(run))))
}

function ofRuns({ order, runs, by, epoch }: SingleOrder, isStill: (run: string) => boolean): SingleOrder {
  return { order, runs: runs.filter(isStill), by, ...(epoch === undefined ? {} : { epoch }) }
}

/** Joins orders, with pauses before aborts. A pause does not end by itself, so the error for a held Lease names it. */
function together(orders: readonly SingleOrder[]): Order | undefined {
  const isAbort = ({ order }: SingleOrder): number => Number(order === 'abort')
  const singles = orders.filter(({ runs }) => runs.length > 0)
  const [first, ...others] = singles.toSorted((a, b) => isAbort(a) - isAbort(b))
  return first && { ...first, ...(others.length > 0 ? { others } : {}) }
}

/**
 * Throws where the newest run is not ordered to end. The newest run has taken over the rest of earlier runs, so ending these would end it.
 */
export function assertOrdered(newest: string, runs: readonly string[]): void {
  if (runs.includes(newest)) return
  throw new RunError('conflict', { code: 'begun-after-abort', run: newest, runs: [...runs] })
}

/** The order for the run. An abort is never taken back, so it counts before a pause. */
export function orderFor(run: string, orders: readonly (Order | undefined)[]): SingleOrder | undefined {
  const meant = orders.flatMap(ordersIn).filter(({ runs }) => runs.includes(run))
  return meant.find(({ order }) => order === 'abort') ?? meant[0]
}
