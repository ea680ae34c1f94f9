/**
 * The prior state that the journal keeps: the value of `inspect.prior`, and whether the target was out. The value alone may be equal in
 * rotation and in maintenance, and a restore must not end a maintenance that began after the drain.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Json } from '../contract.ts'

/** A field name that a config does not use itself. */
const OUT = 'sluice.dev/out'

/** The prior state of a missing entry, for a drain that removes entries. */
export const TAKEN_AWAY: Json = { 'sluice.dev/taken-away': true }

export function wasTakenAway(prior: Json | undefined): boolean {
  return isDeepStrictEqual(prior, TAKEN_AWAY)
}

interface KeptPrior {
  prior: Json | undefined
  wasOut: boolean
}

export function keepPrior(prior: Json, isOut: boolean): Json {
  return isOut ? { [OUT]: prior } : prior
}

export function readKept(kept: Json | undefined): KeptPrior {
  const isMarked = typeof kept === 'object' && kept !== null && !Array.isArray(kept) && OUT in kept
  return isMarked ? { prior: kept[OUT], wasOut: true } : { prior: kept, wasOut: false }
}
