import type { ContainerImage, Journal, PodView } from '../pods/glossary.ts'
import type { FormerPod } from './ledger.ts'

/**
 * What a run that brings the pod to `wanted` would have to bring back. A pod that an earlier run has left half done is
 * not taken as it is: its present images never were in rotation, and may be what it is broken by. Found by reading: nor are those
 * of its other containers, which that run has patched too; a rollback brought it home on the old image of one and the new one of
 * the other, which had never run together.
 * @param open its journal, where an earlier run has left one open
 * @param recorded what the ledger of that run says
 */
export function formerPod(
  { containers, revision }: Pick<PodView, 'containers' | 'revision'>,
  wanted: readonly Pick<ContainerImage, 'container'>[],
  open?: Journal,
  recorded?: FormerPod,
): FormerPod {
  const names = new Set([...wanted, ...halfDone(open, recorded)].map(({ container }) => container))
  const images = containers
    .filter(({ name }) => names.has(name))
    .map(({ name, image: present }): ContainerImage => {
      const earlier = open && recorded?.images.find(({ container }) => container === name)?.image
      const image = earlier ?? open?.baseline.find((one) => one.name === name)?.image ?? present
      return { container: name, image }
    })
  // The label of a half done pod is the one that the earlier run gave it.
  const label = open?.generation === undefined ? revision : recorded?.revision
  return { images, ...(label === undefined ? {} : { revision: label }) }
}

/** The containers that an earlier run has left half done, or one before it. */
export function halfDone(open: Journal | undefined, recorded: FormerPod | undefined): Pick<ContainerImage, 'container'>[] {
  if (open === undefined) return []
  return [...open.baseline.map(({ name }) => ({ container: name })), ...(recorded?.images ?? [])]
}
