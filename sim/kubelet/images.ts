/** What happens when somebody runs an image. */
export interface ImageBehaviour {
  /** `imageID` of a container that runs it; two tags of one image have the same. */
  digest: string
  /** What the runtime calls it in `status.image`: the first name that this digest had, unless given. */
  shownAs?: string
  /** A pull fails, or takes so long; an image without it is on every node already. */
  pull?: 'fails' | { ms: number }
  /** From its start until it answers rightly. READY_AFTER in the container's environment wins. */
  readyAfterMs?: number
  /** It exits with code 1 so long after each start. */
  crashAfterMs?: number
  /** It finishes what it has begun on SIGTERM, so long, and exits with 0; otherwise it dies at once with 143. */
  drainMs?: number
}

/** Image reference → what it is; whatever is not in it cannot be pulled. */
export interface Images {
  get(reference: string): ImageBehaviour | undefined
  set(reference: string, behaviour: ImageBehaviour): void
  /** As the runtime names the image of a container. */
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

/** What containerd takes for an image reference; the kubelet never asks anybody for another one. */
export function isImageReference(text: string): boolean {
  return /^[a-z0-9][\w.\-/:@]*$/i.test(text)
}
