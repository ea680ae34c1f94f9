import type { ContainerImage, Journal, PodView } from '../pods/glossary.ts'
import type { FormerPod } from './ledger.ts'

/**
 * Returns the state of the pod that an undo would bring back. For a pod that an earlier run left half done, all containers of that run
 * count, with their images from before it: the present images were never in rotation, and may be the fault.
 * @param open the journal of the pod, where an earlier run left it open
 * @param recorded the state of the pod in the ledger of that run
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
  // The earlier run has given a half-done pod its present label.
  const label = open?.generation === undefined ? revision : recorded?.revision
  return { images, ...(label === undefined ? {} : { revision: label }) }
}

/** Returns the containers that an earlier run, or a run before it, left half done. */
export function halfDone(open: Journal | undefined, recorded: FormerPod | undefined): Pick<ContainerImage, 'container'>[] {
  if (open === undefined) return []
  return [...open.baseline.map(({ name }) => ({ container: name })), ...(recorded?.images ?? [])]
}
