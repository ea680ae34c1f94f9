import type { BaselineContainer, ContainerImage, ContainerView, PodView } from './glossary.ts'
import { isSpecObserved } from './observed-spec.ts'
import { runsImage } from './witness.ts'

/**
 * The containers that are about to be changed, as they are now. Without its image's ID is one that the kubelet may be about to
 * replace already, by an image of another ID: found by simulation (seed 418), what somebody else's change had started was proof.
 */
export function baselineOf(pod: PodView, wanted: readonly ContainerImage[]): BaselineContainer[] {
  const names = new Set(wanted.map(({ container }) => container))
  return pod.containers
    .filter(({ name }) => names.has(name))
    .map((container) => {
      const { name, image, containerId, imageId } = container
      const isStaying = isSpecObserved(pod) && isNamedAsAsked(container)
      return { name, image, ...(containerId ? { containerId } : {}), ...(imageId && isStaying ? { imageId } : {}) }
    })
}

/**
 * Its status names the image that is asked for. Else it may be about to be replaced; or its image has several names, of which the
 * runtime gives any.
 */
export function isNamedAsAsked(container: ContainerView): boolean {
  const { image, imageId } = container
  return runsImage(container, image) || isDigestOf(image, imageId)
}

/** Of an image that is asked for by its digest the status may give any name. */
function isDigestOf(image: string, imageId: string | undefined): boolean {
  return image.includes('@') && imageId?.endsWith(image.slice(image.indexOf('@'))) === true
}

/** The spec asks for the wanted images already. Says nothing about what runs. */
export function asksFor(pod: PodView, wanted: readonly ContainerImage[]): boolean {
  return wanted.every(({ container, image }) => pod.containers.some((one) => one.name === container && one.image === image))
}

/** The containers whose spec differs from what is wanted. */
export function changesFor(pod: PodView, wanted: readonly ContainerImage[]): { container: string; from: string; to: string }[] {
  return pod.containers.flatMap(({ name, image }) => {
    const want = wanted.find(({ container }) => container === name)
    return want && want.image !== image ? [{ container: name, from: image, to: want.image }] : []
  })
}

/**
 * `metadata.generation` after the images patch: a changed spec raises it by one. 0 where no status will ever tell that
 * it was seen: the API server gives none (before 1.34), or the pod's kubelet, which may be older, does not report it.
 */
export function generationAfter(pod: PodView, wanted: readonly ContainerImage[]): number {
  const isReported = pod.observedGeneration > 0 || pod.containers.every(({ statusIndex }) => statusIndex === undefined)
  if (pod.generation === 0 || !isReported) return 0
  return pod.generation + (changesFor(pod, wanted).length > 0 ? 1 : 0)
}
