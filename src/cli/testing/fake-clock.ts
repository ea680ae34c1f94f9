import type { Clock } from '../../ports/clock.ts'

/** A clock that advances only on demand, and then calls the due timers in order. */
export interface FakeClock extends Clock {
  advance(ms: number): void
}

export function createFakeClock(wallStart = Date.parse('2026-03-01T12:00:00Z')): FakeClock {
  let nowMs = 0
  let nextId = 1
  const timers = new Map<number, { atMs: number; callback: () => void }>()
  return {
    now: () => nowMs,
    wallNow: () => wallStart + nowMs,
    setTimeout: (callback, delayMs) => {
      timers.set(nextId, { atMs: nowMs + delayMs, callback })
      return nextId++
    },
    clearTimeout: (handle) => void timers.delete(handle as number),
    advance: (ms) => {
      const endMs = nowMs + ms
      for (;;) {
        const [id, due] = [...timers].filter(([, { atMs }]) => atMs <= endMs).sort(([, a], [, b]) => a.atMs - b.atMs)[0] ?? []
        if (id === undefined || due === undefined) break
        timers.delete(id)
        nowMs = Math.max(nowMs, due.atMs)
        due.callback()
      }
      nowMs = endMs
    },
  }
}
