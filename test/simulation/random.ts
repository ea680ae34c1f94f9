import type { Random } from '../../src/ports/random.ts'

/** Choices of one seed. Each part of the world has a stream of its own, so that one more choice here changes none there. */
export interface SeededRandom extends Random {
  /** True with this probability. */
  chance(probability: number): boolean
  /** A whole number from `low` up to and with `high`. */
  integer(low: number, high: number): number
  /** Milliseconds, not whole. */
  between(low: number, high: number): number
  pick<Item>(items: readonly Item[]): Item
  /** Another stream, named. */
  fork(name: string): SeededRandom
}

/** sfc32, seeded from the number and the name of the stream. */
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

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  return value
}
