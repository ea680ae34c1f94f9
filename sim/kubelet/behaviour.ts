import type { Images } from './images.ts'
import type { ContainerStatus, Pod, PodStatus } from './pod.ts'
import { withReadyConditions } from './ready-conditions.ts'

/** The differences of a kubelet from Kubernetes 1.35. All but the first are wrong: code that relies on the real order must fail. */
export interface Behaviour {
  /** No status has an `observedGeneration`, as before 1.34. */
  reportsNoGeneration?: boolean
  /** The status that reports a new generation also reports the containers as not ready. */
  readyResetAtOnce?: boolean
  /** The status that reports a new generation shows the new image while the old container runs. */
  imageIdEarly?: boolean
  /** A new generation is reported only with its new container. */
  observedGenerationLate?: boolean
}

/** Returns the wrong status of such a kubelet at the beginning of a sync that will replace these containers. */
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
