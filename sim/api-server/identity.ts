import type { Random } from '../../src/ports/random.ts'

const SUFFIX_LETTERS = 'bcdfghjklmnpqrstvwxz2456789'

/** Returns a version 4 UUID. */
export function newUid(random: Random): string {
  const digits = Array.from({ length: 30 }, () => Math.floor(random.next() * 16).toString(16)).join('')
  const variant = '89ab'[Math.floor(random.next() * 4)]!
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(12, 15)}-${variant}${digits.slice(15, 18)}-${digits.slice(18, 30)}`
}

/** Returns the suffix that completes a `generateName`. */
export function newSuffix(random: Random): string {
  return Array.from({ length: 5 }, () => SUFFIX_LETTERS[Math.floor(random.next() * SUFFIX_LETTERS.length)]).join('')
}

/** Formats an instant for metadata, in whole seconds. `Date` only formats; the instant comes from the clock. */
export function timestamp(wallNow: number): string {
  return `${new Date(wallNow).toISOString().slice(0, 19)}Z`
}
