import type { Ordered } from '../../library/orders.ts'

/** Behind the words that there is no run: a load balancer may be slow, and the run begin once they have been said. */
export function mayBegin({ holder }: Pick<Ordered, 'holder'>): string {
  return holder === undefined ? '' : `; ${holder} has the Lease, and may be about to begin one: then the same command once more`
}
