import type { PodView, ReadJournal } from './glossary.ts'
import { isSpecObserved } from './observed-spec.ts'

/**
 * The generation whose spec the pod's containers are proven to run. The first generation is that of the creation, so a pod with an
 * unchanged `metadata.generation` never had another spec. A record without a generation is from a pod that an API server before 1.33
 * created; its first generation comes from its first change.
 */
export function provenGeneration({ generation }: Pick<PodView, 'generation'>, stored: ReadJournal): number | undefined {
  if (stored.kind === 'read') return stored.journal.proven
  return generation === 1 ? generation : undefined
}

/** True if the pod's containers were started from its current spec, so that the kubelet has nothing to replace. */
export function isProvenSpec(pod: Pick<PodView, 'generation' | 'observedGeneration'>, stored: ReadJournal): boolean {
  // A pod from an old API server has no generation, and gets its first one with its first change.
  const isCounted = pod.observedGeneration > 0 && isSpecObserved(pod)
  return isCounted && provenGeneration(pod, stored) === pod.generation
}
