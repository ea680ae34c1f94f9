/** A repeatable source of random numbers: equal seeds give equal moments. The machine itself still adds differences. */
export interface Random {
  /** Returns a number from 0 up to, but not including, 1. */
  next(): number
  between(low: number, high: number): number
  pick<T>(choices: readonly T[]): T
}

/** mulberry32 is small, and good enough to spread moments. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    next,
    between: (low, high) => Math.round(low + next() * (high - low)),
    pick: (choices) => choices[Math.floor(next() * choices.length)]!,
  }
}
