const FIRST_MS = 10_000
const LONGEST_MS = 300_000

/** The Backoff of client-go's flowcontrol, as the kubelet uses it for crashes and pulls. */
export interface BackOff {
  /** Reports whether the key's back-off still runs, counted from the event at `eventAt`. */
  holdsSince(key: string, eventAt: number): boolean
  /** Reports whether the key's back-off still runs, counted from its last update. */
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
