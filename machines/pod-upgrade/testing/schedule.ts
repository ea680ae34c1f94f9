/** One queue for all events, ordered by instant and then by entry, with one delivery per turn. */
export interface Schedule {
  now(): number
  at(delayMs: number, run: () => void): { cancel(): void }
  /** Delivers the next event. False where there is none. */
  next(): Promise<boolean>
}

interface Item {
  at: number
  run(): void
}

export function createSchedule(): Schedule {
  const items: Item[] = []
  let now = 0
  return {
    now: () => now,
    at(delayMs, run) {
      const item = { at: now + delayMs, run }
      const place = items.findIndex(({ at }) => at > item.at)
      items.splice(place < 0 ? items.length : place, 0, item)
      return {
        cancel() {
          const index = items.indexOf(item)
          if (index >= 0) items.splice(index, 1)
        },
      }
    },
    async next() {
      const item = items.shift()
      if (!item) return false
      now = item.at
      item.run()
      await new Promise<void>((resolve) => setImmediate(resolve))
      return true
    },
  }
}
