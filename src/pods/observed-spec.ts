import type { PodView } from './glossary.ts'

/**
 * The kubelet has synced the pod for its newest spec; before that it may be about to replace what is ready now. Without generations
 * (before Kubernetes 1.34) nobody can tell, and it counts as seen.
 */
export function isSpecObserved({ generation, observedGeneration }: Pick<PodView, 'generation' | 'observedGeneration'>): boolean {
  return observedGeneration === 0 || observedGeneration >= generation
}
