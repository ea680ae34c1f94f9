/** The behaviour of containers that run an image. */
export interface ImageBehaviour {
  /** The `imageID` of a container that runs the image. Two tags of one image have one digest. */
  digest: string
  /** The name of the image in `status.image`. By default, the first name of this digest. */
  shownAs?: string
  /** The pull fails, or takes this time. Without it, the image is on every node already. */
  pull?: 'fails' | { ms: number }
  /** The time from the start until the container answers correctly. READY_AFTER in the container's environment overrides it. */
  readyAfterMs?: number
  /** The time after each start until the container exits with code 1. */
  crashAfterMs?: number
  /** The time to finish requests after SIGTERM, until an exit with 0. Without it, SIGTERM ends the container at once with 143. */
  drainMs?: number
}

/** The images by their references. Any other image cannot be pulled. */
export interface Images {
  get(reference: string): ImageBehaviour | undefined
  set(reference: string, behaviour: ImageBehaviour): void
  /** Returns the name of a container's image as the runtime shows it. */
  shownName(reference: string): string
}

export function createImages(known: Record<string, ImageBehaviour>): Images {
  const images = new Map<string, ImageBehaviour>()
  const names = new Map<string, string>()

  function set(reference: string, behaviour: ImageBehaviour): void {
    images.set(reference, behaviour)
    if (!names.has(behaviour.digest)) names.set(behaviour.digest, reference)
  }

  for (const [reference, behaviour] of Object.entries(known)) set(reference, behaviour)
  return {
    get: (reference) => images.get(reference),
    set,
    shownName(reference) {
      const image = images.get(reference)
      return image?.shownAs ?? (image && names.get(image.digest)) ?? reference
    },
  }
}

/** Reports whether containerd accepts an image reference. The kubelet tries no pull of an invalid reference. */
export function isImageReference(text: string): boolean {
  return /^[a-z0-9][\w.\-/:@]*$/i.test(text)
}
