import type { Clock } from '../../src/ports/clock.ts'
import type { Random } from '../../src/ports/random.ts'

/** A clock whose time passes only on command, and in one turn: code under this clock waits for nothing else. */
export interface VirtualTime extends Clock {
  /** Fires the timers that are due in the next `ms`. */
  advance(ms: number): void
  /** Fires timers one by one until the condition holds. Throws after `limitMs` of virtual time. */
  until(what: string, condition: () => boolean, limitMs?: number): void
  /** Returns the number of timers that are set. */
  pending(): number
  /** Returns the number of timers that have fired. */
  fired(): number
}

interface Timer {
  at: number
  order: number
  callback: (() => void) | undefined
}

export function createVirtualTime(): VirtualTime {
  // The time does not begin at 0, so that a confusion of instants and durations shows.
  let now = 1_000_000
  let order = 0
  let set = 0
  let fired = 0
  const heap: Timer[] = []
  const isBefore = (a: Timer, b: Timer): boolean => a.at < b.at || (a.at === b.at && a.order < b.order)

  function push(timer: Timer): void {
    let index = heap.push(timer) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!isBefore(timer, heap[parent]!)) break
      heap[index] = heap[parent]!
      index = parent
    }
    heap[index] = timer
  }

  function pop(): Timer | undefined {
    const [top] = heap
    const last = heap.pop()
    if (top === undefined || last === undefined || top === last) return top
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++
      if (!isBefore(heap[child]!, last)) break
      heap[index] = heap[child]!
      index = child
    }
    heap[index] = last
    return top
  }

  function fireNext(limit: number): boolean {
    while (heap.length > 0 && heap[0]!.at <= limit) {
      const timer = pop()!
      const { at, callback } = timer
      if (callback === undefined) continue
      timer.callback = undefined
      now = Math.max(now, at)
      set--
      fired++
      callback()
      return true
    }
    return false
  }

  return {
    now: () => now,
    wallNow: () => 1_767_225_600_000 + now,
    setTimeout(callback, delayMs) {
      const timer = { at: now + delayMs, order: order++, callback }
      push(timer)
      set++
      return timer
    },
    clearTimeout(handle) {
      const timer = handle as Timer | undefined
      if (timer?.callback === undefined) return
      timer.callback = undefined
      set--
    },
    advance(ms) {
      const end = now + ms
      while (fireNext(end));
      now = end
    },
    until(what, condition, limitMs = 600_000) {
      const end = now + limitMs
      while (!condition()) {
        if (!fireNext(end)) throw new Error(`waited ${limitMs} ms of virtual time in vain for ${what}`)
      }
    },
    pending: () => set,
    fired: () => fired,
  }
}

/** Returns numbers in [0, 1) that follow from the seed (mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed | 0
  return {
    next() {
      state = (state + 0x6d2b79f5) | 0
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
    },
  }
}
