import type { Images } from './images.ts'
import type { ContainerStatus, Pod, PodStatus } from './pod.ts'
import { withReadyConditions } from './ready-conditions.ts'

/** A kubelet that differs from that of 1.35. But for the first, these lie: whoever relies on the real order must fail with them. */
export interface Behaviour {
  /** As before 1.34: no status has an `observedGeneration`. */
  reportsNoGeneration?: boolean
  /** The status that tells of a new generation also says that the containers are not ready. */
  readyResetAtOnce?: boolean
  /** The status that tells of a new generation shows the new image while the old container runs. */
  imageIdEarly?: boolean
  /** A new generation is told only with the container that came of it. */
  observedGenerationLate?: boolean
}

/** What a lying kubelet says at the beginning of a sync that will replace these containers. */
export function distorted(
  behaviour: Behaviour,
  told: PodStatus,
  pod: Pod,
  replaced: readonly string[],
  { images, now }: { images: Images; now: string },
): PodStatus {
  if (replaced.length === 0 || (behaviour.readyResetAtOnce !== true && behaviour.imageIdEarly !== true)) return told
  const lie = (one: ContainerStatus): ContainerStatus => {
    if (!replaced.includes(one.name)) return one
    if (behaviour.readyResetAtOnce === true) return { ...one, ready: false }
    const { image = '' } = pod.spec.containers.find(({ name }) => name === one.name) ?? {}
    return { ...one, image: images.shownName(image), imageID: images.get(image)?.digest ?? one.imageID }
  }
  return withReadyConditions(pod, { ...told, containerStatuses: (told.containerStatuses ?? []).map(lie) }, now)
}
