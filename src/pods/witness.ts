import type { ReasonOf } from '../reasons/reason.ts'
import { normalizeImage } from './image.ts'
import type { BaselineContainer, ContainerImage, ContainerView, ImagePull, PodView } from './glossary.ts'

/**
 * Proof that a patched container was restarted from the patched spec.
 *
 * Not proof: Ready (for half a second and more after the patch it is still the old container's), `observedGeneration`
 * (the first status that carries it still shows the old container), a new container ID (the old image may have crashed
 * and been restarted just before the kubelet saw the patch; it is killed seconds later).
 *
 * The witness rule: let g be the generation that the patch made, and X the container in a status with
 * `observedGeneration >= g`. The kubelet sets that field only in its sync for g or a later one (status_manager.go,
 * SetPodStatus; probe results keep the old value), from what ran before that sync started anything. So whatever replaces
 * X was started from g's spec or a later one.
 *
 * Where the first such status was not seen (resume, relist, several statuses merged into one), X may be the new
 * container already, which nothing will replace. Then a weaker proof has to do:
 * - `generation`: the patch changed no spec, and that generation was proven before the drain: whatever runs was started from it
 * - `event`: the kubelet, which reports no generation, says by an Event that it has taken the wanted image to start the container
 *   that runs now from
 * - `image`: the container runs the wanted image, and that image's ID is none of the pod's former ones, which are known
 * - `quiet`: its ID has not changed for the grace period and a margin since the kubelet saw the patch; a longer one where
 *   its status does not name the wanted image, which says nothing against it: of several names of one image the runtime
 *   gives any. Never the
 *   container that ran at the patch: that one is still to be killed, however long a slow runtime, or a kubelet that was
 *   stopped meanwhile, takes over it. Unless it runs the wanted image already, where an earlier patch was taken back
 *   before the kubelet saw it.
 */
export type Proof = 'witness' | 'generation' | 'event' | 'image' | 'quiet'

/** What was seen of one patched container since the patch. */
export interface ContainerRestart {
  name: string
  image: string
  /** The container ID in the first status seen that has seen the patch; undefined where there was none. */
  witness: string | undefined
  /** Undefined where the container had none yet: then nobody knows what was about to be started. */
  formerImageIds: string[] | undefined
  /** The container at the patch, where the patch makes the kubelet replace it. */
  former: string | undefined
  current: string | undefined
  /** Why its image could not be had, until a container of it runs: a back-off hides that within a second. */
  pullTrouble?: ReasonOf<'container-waiting'>
  /** The spec has asked for another image since the patch: what was started for that may run, where no generation tells. */
  strayed?: true
  proof?: Proof
}

export interface Restart {
  /** 0 where the API server gives no generation. */
  generation: number
  /** The kubelet has seen the patch. */
  seen: boolean
  containers: ContainerRestart[]
}

/**
 * @param baseline the patched containers before the patch
 * @param wanted the images patched in
 */
export function beginRestart(
  generation: number,
  baseline: readonly BaselineContainer[],
  wanted: readonly ContainerImage[],
): Restart {
  const before = (container: string): BaselineContainer | undefined => baseline.find(({ name }) => name === container)
  // A container whose image string stayed the same is not restarted by the patch.
  const changed = wanted.filter(({ container, image }) => before(container)?.image !== image)
  return {
    generation,
    seen: false,
    // Where nothing changed at all, somebody else has patched the same images, perhaps a moment ago: all are watched,
    // since the kubelet may be about to replace them.
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

/** Where the patch changed no spec, and what runs was proven to be of that spec: nothing is about to be replaced. */
export function provenSince(restart: Restart): Restart {
  return { ...restart, containers: restart.containers.map((one) => ({ ...one, proof: 'generation' as const })) }
}

function isUnstarted(before: BaselineContainer | undefined): boolean {
  return before !== undefined && before.imageId === undefined
}

/** Takes in one more observation of the pod; they come in the order of its versions, and may leave some out. */
export function observeRestart(known: Restart, pod: PodView): Restart {
  const restart = ofNewestSpec(known, pod)
  // Without generations (before Kubernetes 1.34) no status can be told to have seen the patch: none is a witness.
  const knowsGenerations = restart.generation > 0
  const seen = restart.seen || !knowsGenerations || pod.observedGeneration >= restart.generation
  if (!seen) return restart
  const containers = restart.containers.map((container): ContainerRestart => {
    const view = pod.containers.find(({ name }) => name === container.name)
    const current = view?.containerId
    const witness = restart.seen ? container.witness : current
    const asksForAnother = view !== undefined && view.image !== container.image
    // A proof is of the patched spec: it ends where the spec asks for another image, as with a newer generation.
    const kept = asksForAnother ? undefined : container.proof
    const strayed = asksForAnother || container.strayed === true
    // The kubelet may still be about to carry out what the spec asked for in between. Where no generation tells, only time does.
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
 * Somebody else has changed the spec since the patch: what replaces the witness, or has replaced it, may be of what it was in
 * between, and is about to go where that was taken back. So the generation to be seen is that of the newest spec. Found by reading:
 * a container of images that were taken back was proof, and its pod was put back as the kubelet killed it.
 */
function ofNewestSpec(restart: Restart, { generation, deleting }: PodView): Restart {
  // A deletion is counted too, and changes nothing else.
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
  // Found by simulation: it was patched before its first container had started, to another name of the same image.
  const isNewImage = view.imageId !== undefined && container.formerImageIds?.includes(view.imageId) === false
  return isNewImage && runsImage(view, container.image) ? 'image' : undefined
}

/** Its status names the image; of one that has several names the runtime gives any. */
export function runsImage({ statusImage }: Pick<ContainerView, 'statusImage'>, image: string): boolean {
  return statusImage !== undefined && normalizeImage(statusImage) === normalizeImage(image)
}

/** The quiet time is over: containers that run, and have not changed since the kubelet saw the patch, count as proven. */
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
 * Each container's status names the image that was patched in. Of the one that ran at the patch that says little: found by
 * simulation, it was of another name of the same image, and about to be replaced by a kubelet that had stopped.
 */
export function namesWanted({ containers }: Restart, pod: PodView): boolean {
  return containers.every(({ name, image, former }) => {
    const view = pod.containers.find((one) => one.name === name)
    return view !== undefined && view.containerId !== former && runsImage(view, image)
  })
}

/** Two observations between which the quiet time starts anew. */
export function sameContainers(a: Restart, b: Restart): boolean {
  return a.seen === b.seen && a.containers.every(({ current }, index) => current === b.containers[index]?.current)
}

/** Every patched container is proven to run from the patched spec. The weakest proof counts. */
export function restartProof(restart: Restart): Proof | undefined {
  const proofs = new Set(restart.containers.map(({ proof }) => proof))
  if (proofs.has(undefined)) return undefined
  return (['quiet', 'image', 'event', 'generation'] as const).find((weak) => proofs.has(weak)) ?? 'witness'
}

/** Nothing is missing but time: each container has been replaced, and the quiet time would prove those that are not proven. */
export function awaitsQuiet(restart: Restart, pod: PodView): boolean {
  return restartProof(restart) === undefined && restartProof(acceptQuiet(restart, pod)) !== undefined
}

/** No status will ever tell that the kubelet has seen the patch: its Events may tell what it has started. */
export function awaitsEvents(restart: Restart, pod: PodView): boolean {
  return restart.generation === 0 && awaitsQuiet(restart, pod)
}

/** From the image at hand to the start of its container, at most: the runtime creates the container in between. */
const START_WITHIN_MS = 3_000

/**
 * Takes in what the kubelet has told of the images that it took. Each start begins with one, of the image in the spec that the
 * kubelet goes by, and its time and that of the start are of one clock, in whole seconds. So the newest is that of the container
 * that runs, where it came within seconds before the start: an Event that got lost, or comes late, leaves that undecided.
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
  // In the second before a container starts another may have been: then nobody knows which of them runs.
  const newest = own.filter(({ at }) => Date.parse(at) === newestMs)
  const isOwn = newest.every((pull) => normalizeImage(pull.image) === normalizeImage(image))
  return isOwn && sinceMs >= 0 && sinceMs <= START_WITHIN_MS
}

/** The kubelet can never start this image, whatever time it is given. */
const HOPELESS = new Set(['InvalidImageName', 'ErrImageNeverPull'])

/** The image cannot be had now; the dead container's CrashLoopBackOff takes the place of these within a second. */
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

/** What a patched container waits for, and whether waiting can help. */
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
 * Of a pod that waits for a bad image, the status goes on saying so until the kubelet has tried the image that was patched
 * in. Its message names the image, quoted.
 */
function mayBeSaidOf(image: string, message: string | undefined): boolean {
  return message === undefined || message.includes(`"${image}"`)
}
