import { changesFor } from '../pods/baseline.ts'
import type { BaselineContainer, ContainerImage, Journal, PodView } from '../pods/glossary.ts'
import type { PatchOperation } from '../pods/patch-operation.ts'
import { JOURNAL_KEY } from '../pods/view.ts'
import { writeJournal } from './journal.ts'

/*
 * The four guarded PATCHes of one pod upgrade. Each PATCH tests everything that its decision rests on, so that a late or stale PATCH
 * changes nothing. A resourceVersion cannot serve as the guard, since the status writes of the kubelet change it all the time.
 *
 * PATCH 1 and 4 write the status, PATCH 2 and 3 the pod itself. A condition holds the journal until the images are patched: a change of
 * an annotation makes the kubelet sync the pod, and a sync for the images soon after waits for up to a second.
 */

const ANNOTATION = `/metadata/annotations/${JOURNAL_KEY.replace('/', '~1')}`
const CONDITIONS = '/status/conditions'

/** An id as long as the id that a container without one may get. */
const LONG_ID = `containerd://${'x'.repeat(64)}`

/**
 * PATCH 1, of the status: allows sluice to drain the targets of the pod.
 * @throws RangeError where a later journal of the pod could be too long: the pod would stay out of rotation then
 */
export function drainIntentPatch(pod: PodView, next: Journal, wanted: readonly ContainerImage[]): PatchOperation[] {
  writeJournal(longestAfter(next, wanted), pod.uid)
  return [...samePod(pod), ...sameAddress(pod), ...sameBaseline(pod, next.baseline), ...intoCondition(pod, next)]
}

/**
 * PATCH 2: the images, the step `patched`, and the operations that the workload adds for its own count. The test of the generation makes
 * the new generation known before the patch is sent.
 */
export function imagesPatch(
  pod: PodView,
  next: Journal,
  wanted: readonly ContainerImage[],
  extra: readonly PatchOperation[],
): PatchOperation[] {
  const changed = new Set(changesFor(pod, wanted).map(({ container }) => container))
  const images = pod.containers.flatMap(({ name }, index): PatchOperation[] => {
    const want = wanted.find(({ container }) => container === name)
    return want && changed.has(name) ? [{ op: 'replace', path: `/spec/containers/${index}/image`, value: want.image }] : []
  })
  // For a container that an earlier patch changed, the baseline has the replaced image. Nothing here rests on that image.
  const present = next.baseline.filter(({ name, image }) =>
    pod.containers.some((one) => one.name === name && one.image === image),
  )
  return [
    ...samePod(pod),
    ...sameAddress(pod),
    ...sameGeneration(pod),
    ...sameBaseline(pod, present),
    ...extra,
    ...images,
    ...intoAnnotation(pod, next),
  ]
}

/**
 * PATCH 3: allows sluice to restore the targets of the pod, for exactly the containers that were seen running. A watch alone is not
 * enough: it can miss that the pod was just replaced.
 */
export function restoreIntentPatch(pod: PodView, next: Journal): PatchOperation[] {
  const names = new Set(next.baseline.map(({ name }) => name))
  const running = pod.containers.filter(({ name }) => names.has(name))
  return [
    ...samePod(pod),
    ...sameAddress(pod),
    // The spec is tested too: with other images in the spec, the kubelet is about to replace the container that is ready now.
    ...running.flatMap((container) => [
      ...sameImage(pod, container.name),
      ...sameContainer(pod, container.name, container.containerId),
    ]),
    ...intoAnnotation(pod, next),
  ]
}

/** PATCH 4, of the status: all work is done. */
export function closePatch(pod: PodView, next: Journal): PatchOperation[] {
  return [{ op: 'test', path: '/metadata/uid', value: pod.uid }, ...intoCondition(pod, next)]
}

/** Writes the statement of an operator where the record in force is: into the pod itself, or into its status. */
export function wordPatch(pod: PodView, next: Journal): { subresource: '' | '/status'; operations: PatchOperation[] } {
  const inAnnotation = pod.journal.annotation !== undefined && next.step !== 'closed' && next.step !== 'drain'
  return {
    subresource: inAnnotation ? '' : '/status',
    operations: [...samePod(pod), ...(inAnnotation ? intoAnnotation(pod, next) : intoCondition(pod, next))],
  }
}

/** Writes an open record again in its place, in the name of another owner or with a fence. Nothing else changes. */
export function restatePatch(pod: PodView, next: Journal): PatchOperation[] {
  return [
    { op: 'test', path: '/metadata/uid', value: pod.uid },
    ...(isForCondition(next) ? intoCondition(pod, next) : intoAnnotation(pod, next)),
  ]
}

/** Reports whether the record is written before the images, or when all work is done. */
export function isForCondition({ step }: Pick<Journal, 'step'>): boolean {
  return step === 'drain' || step === 'closed'
}

/**
 * Returns the longest journal that may follow. Another run can continue this one, patch the pod, and roll it back; the images of the
 * patch are its baseline then.
 */
function longestAfter(next: Journal, wanted: readonly ContainerImage[]): Journal {
  const baseline = next.baseline.map((before): BaselineContainer => {
    const { name, image, containerId = LONG_ID, imageId = LONG_ID } = before
    const given = wanted.find(({ container }) => container === name)?.image ?? image
    const growth = 'x'.repeat(Math.max(0, given.length - image.length))
    return { name, image: image + growth, containerId, imageId: imageId + growth }
  })
  return {
    ...next,
    baseline,
    step: 'patched',
    origin: `${next.run}+`,
    epoch: Number.MAX_SAFE_INTEGER,
    generation: Number.MAX_SAFE_INTEGER,
    fence: Number.MAX_SAFE_INTEGER,
    rollback: next.baseline.map(({ name, image }) => ({ container: name, image })),
  }
}

function samePod(pod: PodView): PatchOperation[] {
  return [
    { op: 'test', path: '/metadata/uid', value: pod.uid },
    { op: 'test', path: '/metadata/deletionTimestamp', value: null },
  ]
}

function sameAddress(pod: PodView): PatchOperation[] {
  return [{ op: 'test', path: '/status/podIP', value: pod.ip ?? null }]
}

function sameGeneration(pod: PodView): PatchOperation[] {
  return pod.generation === 0 ? [] : [{ op: 'test', path: '/metadata/generation', value: pod.generation }]
}

function sameBaseline(pod: PodView, baseline: readonly BaselineContainer[]): PatchOperation[] {
  return baseline.flatMap(({ name, containerId }) => [...sameImage(pod, name), ...sameContainer(pod, name, containerId)])
}

function sameImage(pod: PodView, name: string): PatchOperation[] {
  const index = pod.containers.findIndex((container) => container.name === name)
  return [
    { op: 'test', path: `/spec/containers/${index}/name`, value: name },
    { op: 'test', path: `/spec/containers/${index}/image`, value: pod.containers[index]?.image },
  ]
}

/** Finds the status of the container by name: statuses are sorted, and `spec.containers` are not. */
function sameContainer(pod: PodView, name: string, containerId: string | undefined): PatchOperation[] {
  const index = pod.containers.find((container) => container.name === name)?.statusIndex
  // Before a pod's first status there is no path to test.
  if (index === undefined) return []
  const path = `/status/containerStatuses/${index}`
  return [
    { op: 'test', path: `${path}/name`, value: name },
    { op: 'test', path: `${path}/containerID`, value: containerId ?? null },
  ]
}

function intoAnnotation(pod: PodView, next: Journal): PatchOperation[] {
  const value = writeJournal(next, pod.uid)
  return [
    ...sameJournal(pod),
    pod.hasAnnotations
      ? { op: 'add', path: ANNOTATION, value }
      : { op: 'add', path: '/metadata/annotations', value: { [JOURNAL_KEY]: value } },
  ]
}

/** Writes the record into the condition. An annotation takes precedence over the condition, so both are changed in one write. */
function intoCondition(pod: PodView, next: Journal): PatchOperation[] {
  const { annotation, condition } = pod.journal
  const isOpen = next.step !== 'closed'
  const value = {
    type: JOURNAL_KEY,
    status: isOpen ? 'True' : 'False',
    reason: isOpen ? 'DrainIntent' : 'Closed',
    message: writeJournal(next),
  }
  return [
    ...sameJournal(pod),
    ...(annotation === undefined ? [] : [{ op: 'remove' as const, path: ANNOTATION }]),
    condition
      ? { op: 'replace', path: `${CONDITIONS}/${condition.index}`, value }
      : pod.firstCondition === undefined
        ? { op: 'add', path: CONDITIONS, value: [value] }
        : // First: the kubelet puts its own behind all others, and where it stands would change.
          { op: 'add', path: `${CONDITIONS}/0`, value },
  ]
}

/** Tests the record in both places: a record that was written since then was not part of the decision. */
function sameJournal(pod: PodView): PatchOperation[] {
  const { annotation, condition } = pod.journal
  return [
    pod.hasAnnotations
      ? { op: 'test', path: ANNOTATION, value: annotation ?? null }
      : { op: 'test', path: '/metadata/annotations', value: null },
    ...(condition
      ? [
          { op: 'test' as const, path: `${CONDITIONS}/${condition.index}/type`, value: JOURNAL_KEY },
          { op: 'test' as const, path: `${CONDITIONS}/${condition.index}/message`, value: condition.message ?? null },
        ]
      : [noCondition(pod)]),
  ]
}

/**
 * Tests that the condition is missing. JSON Patch cannot test that a list lacks an entry, so the test compares its first entry, before
 * which the condition is added.
 */
function noCondition({ firstCondition }: PodView): PatchOperation {
  return firstCondition === undefined
    ? { op: 'test', path: CONDITIONS, value: null }
    : { op: 'test', path: `${CONDITIONS}/0/type`, value: firstCondition }
}
