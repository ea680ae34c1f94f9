import type { Journal } from '../pods/glossary.ts'

/**
 * Returns the name of one effect. Every owner and every try of an attempt has an equal name; a re-admission has another. Two 64-bit
 * FNV-1a halves suffice: the name only has to be stable and distinct, and pure folders import no node module.
 * @param effect the kind of effect
 * @param target `loadBalancer/target`
 * @param repair the number of times that the effect was taken for done and was not: a load balancer that knows operations by id needs a
 * new id
 * @returns 32 hexadecimal digits
 */
export function operationId(
  journal: Pick<Journal, 'run' | 'origin' | 'attempt'>,
  uid: string,
  effect: 'drain' | 'restore',
  target: string,
  repair = 0,
): string {
  const parts = [journal.origin ?? journal.run, uid, journal.attempt, target, effect]
  const text = JSON.stringify(repair === 0 ? parts : [...parts, repair])
  const bytes = new TextEncoder().encode(text)
  return fnv1a(bytes, 0xcbf29ce484222325n) + fnv1a(bytes, 0x9ae16a3b2f90404fn)
}

const PRIME = 0x100000001b3n

function fnv1a(bytes: Uint8Array, basis: bigint): string {
  let hash = basis
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * PRIME)
  return hash.toString(16).padStart(16, '0')
}
