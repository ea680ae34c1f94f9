import type { Adapter } from '../contract.ts'
import type { Bed } from './bed.ts'
import type { Requirement } from './requirements.ts'

/** One promise of the contract, checked on a bed of its own. */
export interface ConformanceCase {
  title: string
  /** How many servers it needs; three unless told. */
  servers?: (adapter: Adapter) => number
  /** It changes nothing. */
  readsOnly?: boolean
  /** Where one of these is not there, it says nothing about bed or adapter. It gets a bed that has them all. */
  needs?: readonly Requirement[]
  run(bed: Bed): Promise<void>
}
