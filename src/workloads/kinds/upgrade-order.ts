import { byOrdinal } from '../../pods/by-ordinal.ts'
import type { PodView } from '../../pods/glossary.ts'
import type { Kinds } from './kinds.ts'

/** Compares pods by the order of their upgrade: a StatefulSet from its highest ordinal down, as its controller does. */
export function upgradeOrder(kinds: Pick<Kinds, 'ofOwner'>): (a: PodView, b: PodView) => number {
  return byOrdinal(({ owner }) => owner !== undefined && kinds.ofOwner(owner)?.first === 'highest')
}
