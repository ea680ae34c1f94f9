import type { Random } from '../ports/random.ts'

const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789'

/** A unique name of letters and digits that are valid in a Kubernetes name. Letters and digits that look alike are left out. */
export function token(random: Random, length: number): string {
  return Array.from({ length }, () => ALPHABET[Math.floor(random.next() * ALPHABET.length)]).join('')
}
