import { z } from 'zod'
import { RunError } from '../errors.ts'

/*
 * What somebody wants of the runs that are open on a workload. It is kept as an annotation of the Lease: the owner reads
 * it from the answers of its own renewals, and where the owner is dead it is there for the next one. It is a level, not
 * an event: an order holds as long as it stands there, and without one a run goes on.
 */

export const ORDER_ANNOTATION = 'sluice.dev/order'

export interface Order {
  /**
   * - `pause`: start no new pod, bring home what is under way, and hold
   * - `abort`: end the run; put back what is not patched, bring home what is, and put the template back
   */
  order: 'pause' | 'abort'
  /** The runs that were open when it was given; it means no other. */
  runs: string[]
  /** Who gave it, such as HOST_PID; for display. */
  by: string
}

const Order = z.object({ v: z.literal(1), order: z.enum(['pause', 'abort']), runs: z.array(z.string()), by: z.string() })

export function writeOrder(order: Order): string {
  return JSON.stringify({ v: 1, ...order } satisfies z.input<typeof Order>)
}

/** Undefined also where it cannot be read: nothing is stopped on a text that nobody understands. */
export function readOrder(annotations: Readonly<Record<string, string>>): Order | undefined {
  const text = annotations[ORDER_ANNOTATION]
  if (text === undefined) return undefined
  try {
    const { v: _, ...order } = Order.parse(JSON.parse(text))
    return order
  } catch {
    return undefined
  }
}

/** What a run has left is that of the one after it: to end it in its stead is to end that one. */
export function assertOrdered(newest: string, runs: readonly string[]): void {
  if (runs.includes(newest)) return
  throw new RunError(
    'conflict',
    `run ${newest} was begun after the order to abort ${runs.join(', ')}, and has to settle what that left: it goes on, unless it is aborted too`,
  )
}

/** An abort is never taken back, so of several the abort counts. */
export function orderFor(run: string, orders: readonly (Order | undefined)[]): Order | undefined {
  const meant = orders.filter((one) => one?.runs.includes(run))
  return meant.find((one) => one?.order === 'abort') ?? meant[0]
}
