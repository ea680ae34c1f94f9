import type { Random } from '../ports/random.ts'

const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789'

/** A name that nobody else has: letters and digits that a Kubernetes name may hold, without those that look alike. */
export function token(random: Random, length: number): string {
  return Array.from({ length }, () => ALPHABET[Math.floor(random.next() * ALPHABET.length)]).join('')
}
