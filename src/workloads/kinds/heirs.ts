import type { PodView } from '../../pods/glossary.ts'
import { byAddress, byName, type GonePod } from '../../pods/heir.ts'
import type { Kinds } from './kinds.ts'

/**
 * True if a pod replaces a pod that is gone: it has the same controller, and fits the rule of its kind. Pods without a controller are
 * compared by name, pods of an unknown kind by address.
 */
export function isHeirIn(kinds: Pick<Kinds, 'ofOwner'>): (gone: GonePod, candidate: PodView) => boolean {
  return (gone, candidate) => {
    const { owner } = gone
    if (candidate.uid === gone.uid || candidate.deleting || candidate.owner?.uid !== owner?.uid) return false
    const isInPlace = owner === undefined ? byName : (kinds.ofOwner(owner)?.isHeir ?? byAddress)
    return isInPlace(gone, candidate)
  }
}
