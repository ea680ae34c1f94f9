const FIRST_MS = 10_000
const LONGEST_MS = 300_000

/** client-go's flowcontrol.Backoff, as the kubelet uses it for crashes and for pulls. */
export interface BackOff {
  /** The event at this instant made an entry that still holds. */
  holdsSince(key: string, eventAt: number): boolean
  /** The last entry itself still holds. */
  holds(key: string): boolean
  next(key: string, eventAt: number): void
  lengthMs(key: string): number
}

export function createBackOff(now: () => number): BackOff {
  const entries = new Map<string, { lengthMs: number; updatedAt: number }>()
  const isOver = (eventAt: number, updatedAt: number): boolean => eventAt - updatedAt > 2 * LONGEST_MS

  return {
    holdsSince(key, eventAt) {
      const entry = entries.get(key)
      return entry !== undefined && !isOver(eventAt, entry.updatedAt) && now() - eventAt < entry.lengthMs
    },
    holds(key) {
      const entry = entries.get(key)
      return entry !== undefined && now() - entry.updatedAt < entry.lengthMs
    },
    next(key, eventAt) {
      const entry = entries.get(key)
      const isNew = entry === undefined || isOver(eventAt, entry.updatedAt)
      entries.set(key, { lengthMs: isNew ? FIRST_MS : Math.min(entry.lengthMs * 2, LONGEST_MS), updatedAt: now() })
    },
    lengthMs: (key) => entries.get(key)?.lengthMs ?? 0,
  }
}
