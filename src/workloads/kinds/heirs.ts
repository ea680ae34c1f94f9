import type { PodView } from '../../pods/glossary.ts'
import { byAddress, byName, type GonePod } from '../../pods/heir.ts'
import type { Kinds } from './kinds.ts'

/**
 * A pod has come in the place of one that is gone: made by the same controller, and there by the rule of its kind. Without a
 * controller, the name is all there is; of a kind that is not known, the address.
 */
export function isHeirIn(kinds: Pick<Kinds, 'ofOwner'>): (gone: GonePod, candidate: PodView) => boolean {
  return (gone, candidate) => {
    const { owner } = gone
    if (candidate.uid === gone.uid || candidate.deleting || candidate.owner?.uid !== owner?.uid) return false
    const isInPlace = owner === undefined ? byName : (kinds.ofOwner(owner)?.isHeir ?? byAddress)
    return isInPlace(gone, candidate)
  }
}
