import type { Random } from '../../src/ports/random.ts'

/**
 * The random choices of one seed. Each part of the world has a stream of its own, so that a further choice in one part changes no other
 * part.
 */
export interface SeededRandom extends Random {
  /** Returns true with this probability. */
  chance(probability: number): boolean
  /** Returns a whole number from `low` to `high`, both included. */
  integer(low: number, high: number): number
  /** Returns a number of milliseconds, not necessarily whole. */
  between(low: number, high: number): number
  pick<Item>(items: readonly Item[]): Item
  /** Returns another stream, by its name. */
  fork(name: string): SeededRandom
}

/** Creates a stream of sfc32, seeded from the seed and the name of the stream. */
export function createRandom(seed: number, name = ''): SeededRandom {
  let a = hash(`${seed}/${name}/a`)
  let b = hash(`${seed}/${name}/b`)
  let c = hash(`${seed}/${name}/c`)
  let d = 1

  function next(): number {
    const sum = (a + b + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + sum) | 0
    return (sum >>> 0) / 0x1_0000_0000
  }
  for (let round = 0; round < 12; round++) next()

  return {
    next,
    chance: (probability) => next() < probability,
    integer: (low, high) => low + Math.floor(next() * (high - low + 1)),
    between: (low, high) => low + next() * (high - low),
    pick: (items) => items[Math.floor(next() * items.length)]!,
    fork: (child) => createRandom(seed, `${name}/${child}`),
  }
}

/** Returns the 32-bit FNV-1a hash. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  return value
}
