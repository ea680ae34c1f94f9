import { changesFor } from './baseline.ts'
import type { ContainerImage, Journal, PodView } from './glossary.ts'

/**
 * Whether the pod is to be drained before it gets these images: unless each container that changes is one of `notFor`, which the
 * config names. Where nothing changes, it is.
 */
export function needsDrain(pod: PodView, wanted: readonly ContainerImage[], notFor: readonly string[]): boolean {
  const changes = changesFor(pod, wanted)
  return changes.length === 0 || !changes.every(({ container }) => notFor.includes(container))
}

/** Of these images, those that an attempt may patch in: all of them, or those of the containers that need no drain. */
export function withinUndrained(
  record: Pick<Journal, 'step' | 'undrained'> | undefined,
  images: readonly ContainerImage[],
): ContainerImage[] {
  const { undrained } = record ?? {}
  if (undrained === undefined || record?.step === 'closed') return [...images]
  return images.filter(({ container }) => undrained.includes(container))
}

/** The containers that a patch without a drain would change, and that its record or the config does not name. */
export function beyondUndrained(
  { undrained }: Pick<Journal, 'undrained'>,
  { pod, wanted, notFor }: { pod: PodView; wanted: readonly ContainerImage[]; notFor: readonly string[] },
): string[] {
  if (undrained === undefined) return []
  const isNamed = (container: string): boolean => undrained.includes(container) && notFor.includes(container)
  return changesFor(pod, wanted).flatMap(({ container }) => (isNamed(container) ? [] : [container]))
}
