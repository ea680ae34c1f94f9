import type { PodView } from './glossary.ts'

/**
 * True if the kubelet has synced the newest spec of the pod; before that, it may be about to replace containers that are ready now. Without
 * generations (before Kubernetes 1.34) that is not known, and the spec counts as observed.
 */
export function isSpecObserved({ generation, observedGeneration }: Pick<PodView, 'generation' | 'observedGeneration'>): boolean {
  return observedGeneration === 0 || observedGeneration >= generation
}
