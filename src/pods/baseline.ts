import type { BaselineContainer, ContainerImage, ContainerView, PodView } from './glossary.ts'
import { isSpecObserved } from './observed-spec.ts'
import { runsImage } from './witness.ts'

/**
 * The containers that are about to change, as they are now. The image ID is left out if the kubelet may be about to replace the container
 * anyway, with an image of another ID: that replacement must not count as proof of this patch.
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
 * True if the status names the image that the spec asks for. Otherwise the container may be about to be replaced, or its image has several
 * names, of which the runtime reports any.
 */
export function isNamedAsAsked(container: ContainerView): boolean {
  const { image, imageId } = container
  return runsImage(container, image) || isDigestOf(image, imageId)
}

/** For an image that the spec names by digest, the status may contain any name of the image. */
function isDigestOf(image: string, imageId: string | undefined): boolean {
  return image.includes('@') && imageId?.endsWith(image.slice(image.indexOf('@'))) === true
}

/** True if the spec asks for the wanted images already. Says nothing about the images that run. */
export function asksFor(pod: PodView, wanted: readonly ContainerImage[]): boolean {
  return wanted.every(({ container, image }) => pod.containers.some((one) => one.name === container && one.image === image))
}

/** The containers whose image in the spec differs from the wanted one. */
export function changesFor(pod: PodView, wanted: readonly ContainerImage[]): { container: string; from: string; to: string }[] {
  return pod.containers.flatMap(({ name, image }) => {
    const want = wanted.find(({ container }) => container === name)
    return want && want.image !== image ? [{ container: name, from: image, to: want.image }] : []
  })
}

/**
 * `metadata.generation` after the images patch: a change of the spec raises it by one. 0 if no status can confirm it: the API server has no
 * generation for pods (before 1.34), or the pod's kubelet, which may be older, does not report it.
 */
export function generationAfter(pod: PodView, wanted: readonly ContainerImage[]): number {
  const isReported = pod.observedGeneration > 0 || pod.containers.every(({ statusIndex }) => statusIndex === undefined)
  if (pod.generation === 0 || !isReported) return 0
  return pod.generation + (changesFor(pod, wanted).length > 0 ? 1 : 0)
}
