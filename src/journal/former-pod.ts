import type { ContainerImage, Journal, PodView } from '../pods/glossary.ts'
import type { FormerPod } from './ledger.ts'

/**
 * What a run that brings the pod to `wanted` would have to bring back. A pod that an earlier run has left half done is
 * not taken as it is: its present images never were in rotation, and may be what it is broken by.
 * @param open its journal, where an earlier run has left one open
 * @param recorded what the ledger of that run says
 */
export function formerPod(
  { containers, revision }: Pick<PodView, 'containers' | 'revision'>,
  wanted: readonly ContainerImage[],
  open?: Journal,
  recorded?: FormerPod,
): FormerPod {
  const images = containers
    .filter(({ name }) => wanted.some(({ container }) => container === name))
    .map(({ name, image: present }): ContainerImage => {
      const earlier = open && recorded?.images.find(({ container }) => container === name)?.image
      const image = earlier ?? open?.baseline.find((one) => one.name === name)?.image ?? present
      return { container: name, image }
    })
  // The label of a half done pod is the one that the earlier run gave it.
  const label = open?.generation === undefined ? revision : recorded?.revision
  return { images, ...(label === undefined ? {} : { revision: label }) }
}
