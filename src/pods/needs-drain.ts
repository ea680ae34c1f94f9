import { changesFor } from './baseline.ts'
import type { ContainerImage, Journal, PodView } from './glossary.ts'

/**
 * True if the pod must be drained before it gets these images. A pod needs no drain if every container that changes is in `notFor`, which
 * the config names. A pod without a change counts as needing it.
 */
export function needsDrain(pod: PodView, wanted: readonly ContainerImage[], notFor: readonly string[]): boolean {
  const changes = changesFor(pod, wanted)
  return changes.length === 0 || !changes.every(({ container }) => notFor.includes(container))
}

/** The images that an attempt may patch: all of them, or for an attempt without a drain those of its recorded containers. */
export function withinUndrained(
  record: Pick<Journal, 'step' | 'undrained'> | undefined,
  images: readonly ContainerImage[],
): ContainerImage[] {
  const { undrained } = record ?? {}
  if (undrained === undefined || record?.step === 'closed') return [...images]
  return images.filter(({ container }) => undrained.includes(container))
}

/** The containers that a patch without a drain would change, although the record of the pod or the config does not name them. */
export function beyondUndrained(
  { undrained }: Pick<Journal, 'undrained'>,
  { pod, wanted, notFor }: { pod: PodView; wanted: readonly ContainerImage[]; notFor: readonly string[] },
): string[] {
  if (undrained === undefined) return []
  const isNamed = (container: string): boolean => undrained.includes(container) && notFor.includes(container)
  return changesFor(pod, wanted).flatMap(({ container }) => (isNamed(container) ? [] : [container]))
}
