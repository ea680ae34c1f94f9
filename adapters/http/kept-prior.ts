/**
 * What is kept of a target that somebody has out: what the config says of it, and that it was out. By what the config says alone
 * it may be the same as in rotation. Found by reading: so a restore ended a maintenance that had begun after the drain.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Json } from '../contract.ts'

/** No field of a config's own. */
const OUT = 'sluice.dev/out'

/** The prior state of an entry that is not there, where a drain takes entries away. */
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
