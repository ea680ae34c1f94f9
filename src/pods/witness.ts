import type { ReasonOf } from '../reasons/reason.ts'
import { normalizeImage } from './image.ts'
import type { BaselineContainer, ContainerImage, ContainerView, ImagePull, PodView } from './glossary.ts'

/**
 * Proof that a patched container was restarted from the patched spec.
 *
 * No proof: Ready (it describes the old container for half a second and more after the patch), `observedGeneration` (the first status with
 * it still shows the old container), a new container ID (the old image may have crashed and been restarted just before the kubelet saw the
 * patch; that container is killed seconds later).
 *
 * The witness rule: let g be the generation that the patch made, and X the container in a status with `observedGeneration >= g`. The
 * kubelet sets that field only in its sync for g or a later generation (status_manager.go, SetPodStatus; probe results keep the old value),
 * and reports the containers from before that sync. So the container that replaces X was started from the spec of g or a later one.
 *
 * If the first such status was missed (resume, relist, several statuses merged into one), X may already be the new container, which is not
 * replaced. A weaker proof is then used:
 * - `generation`: the patch changed no spec, and its generation was proven before the drain, so the running containers come from it
 * - `event`: the kubelet reports no generation, and its Event says that it took the wanted image to start the running container
 * - `image`: the container runs the wanted image, and the ID of that image differs from all former image IDs of the container, which are
 *   known
 * - `quiet`: the container ID has not changed for the grace period and a margin since the kubelet saw the patch. The time is longer if the
 *   status does not name the wanted image; the runtime may report any name of an image. The container that ran at the patch is never proven
 *   by quiet, because a slow runtime or a stopped kubelet may still be about to kill it. The exception is a container with the wanted image
 *   already: an earlier patch was reverted before the kubelet saw it.
 */
export type Proof = 'witness' | 'generation' | 'event' | 'image' | 'quiet'

/** The observations of one patched container since the patch. */
export interface ContainerRestart {
  name: string
  image: string
  /** The container ID in the first observed status that has seen the patch; undefined if the container had none. */
  witness: string | undefined
  /** The former image IDs. Undefined if one was missing, because it is not known what was about to be started. */
  formerImageIds: string[] | undefined
  /** The ID of the container at the patch, if the patch makes the kubelet replace it. */
  former: string | undefined
  current: string | undefined
  /** The reason why the image is not available, kept until a container of it runs, because a back-off hides the reason within a second. */
  pullTrouble?: ReasonOf<'container-waiting'>
  /** The spec has asked for another image since the patch. Without generations, a container of that image cannot be ruled out. */
  strayed?: true
  proof?: Proof
}

export interface Restart {
  /** 0 if the API server has no generation for pods. */
  generation: number
  /** The kubelet has seen the patch. */
  seen: boolean
  containers: ContainerRestart[]
}

/**
 * @param baseline the patched containers before the patch
 * @param wanted the images of the patch
 */
export function beginRestart(
  generation: number,
  baseline: readonly BaselineContainer[],
  wanted: readonly ContainerImage[],
): Restart {
  const before = (container: string): BaselineContainer | undefined => baseline.find(({ name }) => name === container)
  // The patch does not restart a container whose image string is unchanged.
  const changed = wanted.filter(({ container, image }) => before(container)?.image !== image)
  return {
    generation,
    seen: false,
    // If no image changed, another client has patched these images, perhaps a moment ago. All containers are watched, because the kubelet
    // may be about to replace them.
    containers: (changed.length > 0 ? changed : wanted).map(({ container, image }) => ({
      name: container,
      image,
      witness: undefined,
      formerImageIds: isUnstarted(before(container)) ? undefined : baseline.flatMap(({ imageId }) => imageId ?? []),
      former: changed.length > 0 ? before(container)?.containerId : undefined,
      current: undefined,
    })),
  }
}

/** For a patch that changed no spec, on a pod whose containers are proven to run that spec: no container is about to be replaced. */
export function provenSince(restart: Restart): Restart {
  return { ...restart, containers: restart.containers.map((one) => ({ ...one, proof: 'generation' as const })) }
}

function isUnstarted(before: BaselineContainer | undefined): boolean {
  return before !== undefined && before.imageId === undefined
}

/** Applies one more observation of the pod. Observations come in the order of the pod's versions, possibly with gaps. */
export function observeRestart(known: Restart, pod: PodView): Restart {
  const restart = ofNewestSpec(known, pod)
  // Without generations (before Kubernetes 1.34) no status shows that the kubelet has seen the patch, so there is no witness.
  const knowsGenerations = restart.generation > 0
  const seen = restart.seen || !knowsGenerations || pod.observedGeneration >= restart.generation
  if (!seen) return restart
  const containers = restart.containers.map((container): ContainerRestart => {
    const view = pod.containers.find(({ name }) => name === container.name)
    const current = view?.containerId
    const witness = restart.seen ? container.witness : current
    const asksForAnother = view !== undefined && view.image !== container.image
    // A proof applies to the patched spec. It ends when the spec asks for another image, as it does with a newer generation.
    const kept = asksForAnother ? undefined : container.proof
    const strayed = asksForAnother || container.strayed === true
    // The kubelet may still carry out the intermediate spec. Without generations, only time rules that out.
    const needsTime = strayed && !knowsGenerations
    const proof = kept ?? (needsTime ? undefined : proofOf(view, { ...container, witness }, restart.seen && knowsGenerations))
    const pullTrouble = pullTroubleOf(view, container.pullTrouble)
    const { pullTrouble: _, proof: __, strayed: ___, ...rest } = container
    const found = { ...(strayed ? { strayed } : {}), ...(proof ? { proof } : {}), ...(pullTrouble ? { pullTrouble } : {}) }
    return { ...rest, witness, current, ...found }
  })
  return { ...restart, seen, containers }
}

/**
 * Another client has changed the spec since the patch. A container that replaces the witness may come from the intermediate spec, and the
 * kubelet may be about to kill it. So the awaited generation becomes that of the newest spec, and earlier proofs end.
 */
function ofNewestSpec(restart: Restart, { generation, deleting }: PodView): Restart {
  // A deletion raises the generation too, without a change of the containers.
  if (restart.generation === 0 || generation <= restart.generation || deleting) return restart
  const containers = restart.containers.map((container): ContainerRestart => {
    const { proof: _, ...rest } = container
    return { ...rest, witness: undefined, current: undefined }
  })
  return { generation, seen: false, containers }
}

function proofOf(view: ContainerView | undefined, container: ContainerRestart, mayReplaceWitness: boolean): Proof | undefined {
  if (!view?.running || !view.containerId || view.image !== container.image) return undefined
  if (mayReplaceWitness && view.containerId !== container.witness) return 'witness'
  // The image ID must be known and new. A pod that is patched before its first container starts may get another name of the same image.
  const isNewImage = view.imageId !== undefined && container.formerImageIds?.includes(view.imageId) === false
  return isNewImage && runsImage(view, container.image) ? 'image' : undefined
}

/** True if the status names the image. If an image has several names, the runtime reports any of them. */
export function runsImage({ statusImage }: Pick<ContainerView, 'statusImage'>, image: string): boolean {
  return statusImage !== undefined && normalizeImage(statusImage) === normalizeImage(image)
}

/** Applies the end of the quiet time: running containers that have not changed since the kubelet saw the patch count as proven. */
export function acceptQuiet(restart: Restart, pod: PodView): Restart {
  if (!restart.seen) return restart
  return {
    ...restart,
    containers: restart.containers.map((container) => {
      const view = pod.containers.find(({ name }) => name === container.name)
      const stands =
        view?.running &&
        view.containerId !== undefined &&
        view.containerId === container.current &&
        view.image === container.image &&
        (view.containerId !== container.former || runsImage(view, container.image))
      return stands && !container.proof ? { ...container, proof: 'quiet' as const } : container
    }),
  }
}

/**
 * True if the status of each container names the patched image. The container that ran at the patch does not count: it may have another
 * name of the same image, and a stopped kubelet may still be about to replace it.
 */
export function namesWanted({ containers }: Restart, pod: PodView): boolean {
  return containers.every(({ name, image, former }) => {
    const view = pod.containers.find((one) => one.name === name)
    return view !== undefined && view.containerId !== former && runsImage(view, image)
  })
}

/** False for two observations between which the quiet time starts anew. */
export function sameContainers(a: Restart, b: Restart): boolean {
  return a.seen === b.seen && a.containers.every(({ current }, index) => current === b.containers[index]?.current)
}

/** The weakest proof of the patched containers; undefined if one of them is not proven. */
export function restartProof(restart: Restart): Proof | undefined {
  const proofs = new Set(restart.containers.map(({ proof }) => proof))
  if (proofs.has(undefined)) return undefined
  return (['quiet', 'image', 'event', 'generation'] as const).find((weak) => proofs.has(weak)) ?? 'witness'
}

/** True if only time is missing: the quiet time would prove every container that is not proven yet. */
export function awaitsQuiet(restart: Restart, pod: PodView): boolean {
  return restartProof(restart) === undefined && restartProof(acceptQuiet(restart, pod)) !== undefined
}

/** True if no status can show that the kubelet has seen the patch, so that its Events are the source. */
export function awaitsEvents(restart: Restart, pod: PodView): boolean {
  return restart.generation === 0 && awaitsQuiet(restart, pod)
}

/** The maximum time between the Event about the image and the start of its container; the runtime creates the container in between. */
const START_WITHIN_MS = 3_000

/**
 * Applies the kubelet's Events about images. Each container start follows an Event with the image of the kubelet's spec; both times are
 * whole seconds of one clock. So the newest Event belongs to the running container if it came within seconds before the start. A lost or
 * late Event proves nothing.
 */
export function acceptPulls(restart: Restart, pod: PodView, pulls: readonly ImagePull[]): Restart {
  if (!awaitsEvents(restart, pod)) return restart
  const containers = restart.containers.map((container): ContainerRestart => {
    const view = pod.containers.find(({ name }) => name === container.name)
    if (container.proof || container.strayed || !view?.running) return container
    if (view.containerId === container.former || view.image !== container.image) return container
    return isStartedFrom(view, pulls) ? { ...container, proof: 'event' } : container
  })
  return { ...restart, containers }
}

function isStartedFrom({ name, image, startedAt }: ContainerView, pulls: readonly ImagePull[]): boolean {
  const own = pulls.filter(({ container }) => container === name)
  const newestMs = Math.max(...own.map(({ at }) => Date.parse(at)))
  const sinceMs = Date.parse(startedAt ?? '') - newestMs
  // Two starts may lie within one second, so two images in the newest second leave the running one undecided.
  const newest = own.filter(({ at }) => Date.parse(at) === newestMs)
  const isOwn = newest.every((pull) => normalizeImage(pull.image) === normalizeImage(image))
  return isOwn && sinceMs >= 0 && sinceMs <= START_WITHIN_MS
}

/** The waiting reasons with which the kubelet can never start the image. */
const HOPELESS = new Set(['InvalidImageName', 'ErrImageNeverPull'])

/** The waiting reasons of an image that is not available. Within a second, CrashLoopBackOff of the dead container replaces them. */
const PULL_TROUBLE = new Set(['ErrImagePull', 'ImagePullBackOff', 'ErrImageNeverPull', 'InvalidImageName', 'RegistryUnavailable'])

function pullTroubleOf(
  view: ContainerView | undefined,
  before: ReasonOf<'container-waiting'> | undefined,
): ReasonOf<'container-waiting'> | undefined {
  if (view?.running) return undefined
  return view?.waitingReason !== undefined && PULL_TROUBLE.has(view.waitingReason) ? waitingOf(view) : before
}

function waitingOf({ name, waitingReason = '', waitingMessage }: ContainerView): ReasonOf<'container-waiting'> {
  return {
    code: 'container-waiting',
    container: name,
    waiting: waitingReason,
    ...(waitingMessage ? { said: waitingMessage } : {}),
  }
}

/** The reason why a patched container waits, and whether waiting can help. */
export function restartTrouble(
  restart: Restart,
  pod: PodView,
): { reason: ReasonOf<'container-waiting'>; hopeless: boolean } | undefined {
  for (const { name, image, pullTrouble } of restart.containers) {
    const view = pod.containers.find((one) => one.name === name)
    if (!view?.waitingReason || view.waitingReason === 'ContainerCreating' || view.waitingReason === 'PodInitializing') continue
    const hopeless = HOPELESS.has(view.waitingReason) && mayBeSaidOf(image, view.waitingMessage)
    return { reason: pullTrouble ?? waitingOf(view), hopeless }
  }
  return undefined
}

/**
 * The status of a pod with a bad former image keeps its message until the kubelet has tried the patched image. The message quotes the name
 * of its image.
 */
function mayBeSaidOf(image: string, message: string | undefined): boolean {
  return message === undefined || message.includes(`"${image}"`)
}
