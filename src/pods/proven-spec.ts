import type { PodView, ReadJournal } from './glossary.ts'
import { isSpecObserved } from './observed-spec.ts'

/**
 * The generation whose spec the pod's containers are known to run. A restart is proven for a generation, and the first generation
 * is that of the pod's creation: as long as `metadata.generation` stays the same, no other spec was ever there to start from.
 * A record that names no generation is of a pod that had none at its drain: an API server before 1.33 has made it, and its first
 * generation is that of its first change.
 */
export function provenGeneration({ generation }: Pick<PodView, 'generation'>, stored: ReadJournal): number | undefined {
  if (stored.kind === 'read') return stored.journal.proven
  return generation === 1 ? generation : undefined
}

/** Whatever runs in the pod was started from the spec that it has now: the kubelet has nothing to replace. */
export function isProvenSpec(pod: Pick<PodView, 'generation' | 'observedGeneration'>, stored: ReadJournal): boolean {
  // A pod that an old API server has made has no generation, and gets the first one with its first change.
  const isCounted = pod.observedGeneration > 0 && isSpecObserved(pod)
  return isCounted && provenGeneration(pod, stored) === pod.generation
}
