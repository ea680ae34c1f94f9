import { byOrdinal } from '../../pods/by-ordinal.ts'
import type { PodView } from '../../pods/glossary.ts'
import type { Kinds } from './kinds.ts'

/** Pods in the order in which they are upgraded: a StatefulSet from its highest ordinal down, as its controller does. */
export function upgradeOrder(kinds: Pick<Kinds, 'ofOwner'>): (a: PodView, b: PodView) => number {
  return byOrdinal(({ owner }) => owner !== undefined && kinds.ofOwner(owner)?.first === 'highest')
}
