import type { Context } from './context.ts'
import { ENTRY_STAYS_MS, FLAPS_WITHIN_MS } from './limits.ts'

/** Finds entries that leave rotation again soon after they have come back. */
export interface EntryFlaps {
  /** Notes that the entry has begun (`isIn`) or ceased to get requests. */
  turned(entry: FlappingEntry, isIn: boolean): void
}

/** An entry, which its load balancer and the ID there identify. */
export interface FlappingEntry {
  loadBalancer: string
  entry: string
  address: string
  namespace?: string
  pod?: string
}

export function createEntryFlaps(context: Context): EntryFlaps {
  const returns = new Map<string, number>()
  const toldAt = new Map<string, number>()

  /** Keeps the instant for `withinMs`, so that entries that stay, or are gone for good, take no room. */
  function forgetLater(map: Map<string, number>, key: string, withinMs: number): void {
    const at = context.now()
    map.set(key, at)
    context.later(at + withinMs + 1, () => {
      if (map.get(key) === at) map.delete(key)
    })
  }

  return {
    turned(entry, isIn) {
      const key = JSON.stringify([entry.loadBalancer, entry.entry])
      if (isIn) return forgetLater(returns, key, ENTRY_STAYS_MS)
      const backAt = returns.get(key)
      returns.delete(key)
      if (backAt === undefined || toldAt.has(key)) return
      forgetLater(toldAt, key, FLAPS_WITHIN_MS)
      context.find({ code: 'entry-flaps', ...entry, stayedMs: context.now() - backAt })
    },
  }
}
