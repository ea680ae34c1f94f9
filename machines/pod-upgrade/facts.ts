import type { Reason, ReasonOf } from '../../src/reasons/reason.ts'
import { asksFor, baselineOf, changesFor, generationAfter, isNamedAsAsked } from '../../src/pods/baseline.ts'
import type {
  BaselineContainer,
  ContainerImage,
  ContainerView,
  Journal,
  JournalTarget,
  PodView,
} from '../../src/pods/glossary.ts'
import { awaitedEndpoints, missingEndpoint } from '../../src/pods/endpoints.ts'
import { withinUndrained } from '../../src/pods/needs-drain.ts'
import { isOpen, openJournal } from '../../src/pods/open-journal.ts'
import { unprobedMs, unready } from '../../src/pods/readiness.ts'
import type { Restart } from '../../src/pods/witness.ts'
import {
  beginRestart,
  observeRestart,
  provenSince,
  restartProof,
  restartTrouble,
  namesWanted,
  runsImage,
} from '../../src/pods/witness.ts'
import { isSpecObserved } from '../../src/pods/observed-spec.ts'
import { isProvenSpec, provenGeneration } from '../../src/pods/proven-spec.ts'
import type { PodContext, PodUpgradeInput } from './context.ts'

/* What the machine decides by: pure functions of the record and the observation. */

type Known = Pick<PodContext, 'pod' | 'stored' | 'run' | 'epoch' | 'lease' | 'wanted' | 'record' | 'endpoints'>

/**
 * The open record as this owner goes on with it: prior state and attempt are the old owner's, never those of a new
 * inspection, which would read "drained" and put back that.
 */
export function openRecord({
  stored,
  run,
  epoch,
  lease,
  gone,
  targets,
  keepsPatch = false,
}: Pick<PodUpgradeInput, 'stored' | 'run' | 'epoch' | 'lease' | 'gone' | 'targets'> & Partial<Pick<PodContext, 'keepsPatch'>>):
  | Journal
  | undefined {
  const journal = openJournal(stored)
  if (journal) {
    const origin = journal.origin ?? (journal.run === run ? undefined : journal.run)
    const { rollback, lease: _, ...rest } = journal
    // Another request says anew where the pod is to go; and what it was to go back to may not be had.
    const goesBack = journal.run === run && !keepsPatch
    return {
      ...rest,
      run,
      epoch,
      ...(lease && { lease }),
      ...(origin && { origin }),
      ...(goesBack && rollback && { rollback }),
    }
  }
  // The journal went with the pod: the ledger says what may have been drained.
  if (gone && targets && targets.length > 0) return { run, epoch, attempt: 1, step: 'drain', baseline: [], targets }
  return undefined
}

/**
 * The images that the pod is to run now: those asked for, or those that it goes back to. Where it is not drained, no others than
 * those of the containers that need no drain: the rest is for an attempt of its own, once this one is closed.
 */
export function goalOf({ wanted, record }: Pick<PodContext, 'wanted' | 'record'>): ContainerImage[] {
  return record?.rollback ?? withinUndrained(record, wanted)
}

/** It asks for other images than the request, of whatever containers. */
export function differsFromRequest({ pod, wanted }: Pick<PodContext, 'pod' | 'wanted'>): boolean {
  return !asksFor(pod, wanted)
}

/** The images that a pod which failed goes back to. Once only: undefined where it has, and where it has no others. */
export function formerImages({
  record,
  pod,
  before,
}: Pick<PodContext, 'record' | 'pod' | 'before'>): ContainerImage[] | undefined {
  if (record === undefined || record.rollback !== undefined) return undefined
  const all = before ?? record.baseline.map(({ name, image }) => ({ container: name, image }))
  const images = withinUndrained(record, all)
  return asksFor(pod, images) ? undefined : images
}

/** The record of a rollback: patched once more, in the same attempt. */
export function rollbackRecord(context: Pick<PodContext, 'stored' | 'record' | 'pod' | 'before'>): Journal {
  const { record, pod } = context
  const images = record!.rollback ?? formerImages(context)!
  return {
    ...record!,
    ...fenceOf(context),
    step: 'patched',
    rollback: images,
    baseline: baselineAfter(record, pod, images),
    generation: generationAfter(pod, images),
  }
}

/**
 * The open record as it is stored, or was before somebody removed it; but for its fence, which no images get past that were sent over
 * it.
 */
export function fencedRecord(context: Parameters<typeof reopened>[0] & Pick<PodContext, 'lastRead'>): Journal {
  const lost = lostRecord(context)
  const record = reopened(lost ? { ...context, stored: { kind: 'read', journal: beforeRestore(lost) } } : context)!
  return { ...record, fence: 1 + (record.fence ?? 0) }
}

/** The open record that somebody has removed, or made unreadable. */
export function lostRecord({ stored, lastRead }: Pick<PodContext, 'stored' | 'lastRead'>): Journal | undefined {
  return isOpen(stored) ? undefined : lastRead
}

/** It gets other images: what it was to be put back on is no more. Found by simulation (seed 60501834). */
function beforeRestore(record: Journal): Journal {
  if (record.step !== 'restore') return record
  return { ...record, step: record.generation === undefined ? 'drain' : 'patched' }
}

/** What the images of this record were sent over is not what stands there now, which they are guarded by: they cannot land any more. */
export function isFenced({ stored, record, lastRead }: Pick<PodContext, 'stored' | 'record' | 'lastRead'>): boolean {
  const journal = openJournal(stored)
  return journal === undefined ? lastRead === undefined : (journal.fence ?? 0) > (record?.fence ?? 0)
}

/** What a patch is sent over. */
function fenceOf({ stored }: Pick<PodContext, 'stored'>): Pick<Journal, 'fence'> {
  const fence = openJournal(stored)?.fence
  return fence === undefined ? {} : { fence }
}

/** An owner before this one has begun the rollback, and its write has landed late. */
export function isRollbackStored({ stored, run, record }: Pick<PodContext, 'stored' | 'run' | 'record'>): boolean {
  const journal = openJournal(stored)
  return journal?.rollback !== undefined && journal.run === run && record?.rollback === undefined
}

/** The record as it is stored, with the targets by the ids that this owner has found them under. */
export function reopened(
  context: Pick<PodContext, 'stored' | 'run' | 'epoch' | 'lease' | 'gone' | 'targets' | 'record' | 'keepsPatch'>,
): Journal | undefined {
  const stored = openRecord(context)
  return stored && context.record ? followed(stored, context.record.targets) : (stored ?? context.record)
}

/** The images that the pod's spec has for the containers that were patched. */
export function patchedImages(pod: PodView, record: Journal | undefined): ContainerImage[] {
  const patched = new Set(record?.baseline.map(({ name }) => name))
  return pod.containers.flatMap(({ name, image }) => (patched.has(name) ? [{ container: name, image }] : []))
}

/** Its entries in the load balancers were pointed at another address, and have other ids since. */
export function followed(record: Journal, targets: JournalTarget[] | undefined): Journal {
  return targets === undefined ? record : { ...record, targets }
}

/** The one that a drain begins, or goes on with. */
function attemptAfter({ stored }: Pick<PodContext, 'stored'>): number {
  if (stored.kind !== 'read') return 1
  return stored.journal.attempt + (stored.journal.step === 'closed' ? 1 : 0)
}

/** An attempt came to its end after the record was drawn up: what it says of the prior state may be from the middle of that. */
export function isOutdated({ stored, record }: Pick<PodContext, 'stored' | 'record'>): boolean {
  return record !== undefined && record.attempt < attemptAfter({ stored })
}

/** The record that the next write stores. */
export function nextRecord(context: Known, step: Journal['step'], found?: Pick<Journal, 'targets' | 'undrained'>): Journal {
  const { pod, run, epoch, lease, wanted } = context
  const record: Journal = context.record ?? {
    run,
    epoch,
    ...(lease && { lease }),
    attempt: attemptAfter(context),
    step,
    baseline: [],
    targets: [],
    ...found,
  }
  if (step === 'drain') {
    const { endpoints: _, ...rest } = record
    const endpoints = awaitedEndpoints(pod, context.endpoints)
    return {
      ...rest,
      step,
      ...provenBefore(context),
      baseline: baselineOf(pod, withinUndrained(record, wanted)),
      ...(endpoints.length > 0 ? { endpoints } : {}),
    }
  }
  // The container may have been restarted since the drain: the baseline is the one that this patch is guarded with.
  if (step === 'patched') {
    const goal = goalOf(context)
    const baseline = baselineAfter(openJournal(context.stored), pod, goal)
    return { ...record, ...fenceOf(context), step, baseline, generation: generationAfter(pod, goal) }
  }
  return { ...record, step, ...(step === 'restore' ? { targets: unsaid(record), ...provenNow(record) } : {}) }
}

/** What is known of the containers as the drain begins: the record of the upgrade before tells it, and is written over. */
function provenBefore({ pod, stored }: Pick<PodContext, 'pod' | 'stored'>): Pick<Journal, 'proven'> {
  const proven = provenGeneration(pod, stored)
  return proven === undefined ? {} : { proven }
}

/** A patched pod is put back only once its restart is proven. */
function provenNow({ generation }: Journal): Pick<Journal, 'proven'> {
  return generation ? { proven: generation } : {}
}

/**
 * What the next patch is judged by. Of containers that one before it in this attempt has patched, and this one does not change, it
 * is what they were before that: the kubelet may not have replaced them yet. Found by reading: a run for one container went on
 * where another had been patched a moment ago, and the pod was put back before that one had restarted.
 */
function baselineAfter(earlier: Journal | undefined, pod: PodView, goal: readonly ContainerImage[]): BaselineContainer[] {
  if (earlier?.generation === undefined) return baselineOf(pod, goal)
  const changed = new Set(changesFor(pod, goal).map(({ container }) => container))
  const kept = earlier.baseline.filter(
    ({ name, image }) => !changed.has(name) && pod.containers.some((one) => one.name === name && one.image !== image),
  )
  const others = goal.filter(({ container }) => !kept.some(({ name }) => name === container))
  return [...baselineOf(pod, others), ...kept]
}

/** What a person has said of the drain says nothing of the restore; what was said in the middle of that holds on. */
function unsaid({ step, targets }: Journal): JournalTarget[] {
  if (step === 'restore') return targets
  return targets.map((target) => {
    const { said: _, ...rest } = target
    return rest
  })
}

/** The record of a re-admission: nothing was patched, whatever was tried, and its containers are to be those of before the drain. */
export function readmission({ record, stored }: Pick<PodContext, 'record' | 'stored'>): Journal {
  // The record at hand may be that of a patch which was not stored.
  const { generation: _, ...rest } = { ...record!, baseline: (openJournal(stored) ?? record!).baseline }
  return { ...rest, step: 'restore', targets: unsaid(rest) }
}

/**
 * The kubelet may be about to replace a container, for what somebody else has patched in or taken back. Found by simulation (seed
 * 42024334): sluice's own patch was refused, and the pod was put back as its container went.
 */
export function isRestless({ pod, stored }: Pick<PodContext, 'pod' | 'stored'>): boolean {
  return !isProvenSpec(pod, stored) && misnamed(pod) !== undefined
}

/** One whose status names another image than its spec asks for. */
export function misnamed({ containers }: PodView): ContainerView | undefined {
  return containers.find((container) => container.running && !isNamedAsAsked(container))
}

/** What has come in its place: no record of this run tells of it. */
export function isHeirRestless({ heir }: Pick<PodContext, 'heir'>): boolean {
  return heir != null && isRestless({ pod: heir.pod, stored: { kind: 'none' } })
}

/** On top of the grace period, until an unchanged container counts as proven. */
const QUIET_MARGIN_MS = 5_000
/**
 * The same where its status does not even name the wanted image. A kubelet that stops right after it has said that it saw the patch
 * leaves the old image so; by the end of this time the node controller has said that the pod is not ready.
 */
export const UNNAMED_MARGIN_MS = 60_000

/** To the former images, by a rollback or by an undo: the kubelet may hold back a container that ended shortly before. */
export function isWayBack({ record, undoes }: Pick<PodContext, 'record' | 'undoes'>): boolean {
  return record?.rollback !== undefined || undoes === true
}

/** For how long no container may change, where nothing but time proves what runs. */
export function quietMs(context: Pick<PodContext, 'pod' | 'restart'>): number {
  return context.pod.gracePeriodSeconds * 1000 + (namesWantedImages(context) ? QUIET_MARGIN_MS : UNNAMED_MARGIN_MS)
}

/** The record is stored on the pod as it was to be. */
export function isRecorded({ stored, record }: Pick<PodContext, 'stored' | 'record'>): boolean {
  if (stored.kind !== 'read' || record === undefined) return false
  const { journal } = stored
  return (
    journal.run === record.run &&
    journal.epoch === record.epoch &&
    journal.attempt === record.attempt &&
    journal.step === record.step &&
    (journal.rollback === undefined) === (record.rollback === undefined) &&
    (record.step !== 'patched' || isSamePatch(journal, record))
  )
}

/**
 * The images of this record have landed: it is stored, or was before somebody removed it or made it unreadable. Found by simulation
 * (seed 60460142): what somebody had patched in since was written over, as the record was unreadable by then.
 */
export function hasLanded({ stored, record, lastRead }: Pick<PodContext, 'stored' | 'record' | 'lastRead'>): boolean {
  const lost = lostRecord({ stored, lastRead })
  return record?.step === 'patched' && isRecorded({ stored: lost ? { kind: 'read', journal: lost } : stored, record })
}

/** A pod that an earlier run has patched gets other images in the same attempt: found by reading, its claim was taken for that. */
function isSamePatch(a: Journal, b: Journal): boolean {
  const imagesOf = ({ baseline }: Journal): string => JSON.stringify(baseline.map(({ name, image }) => [name, image]))
  return a.generation === b.generation && imagesOf(a) === imagesOf(b)
}

/** Another owner, later than this one, has written the journal. */
export function isUsurped({ stored, run, epoch }: Pick<PodContext, 'stored' | 'run' | 'epoch'>): boolean {
  if (stored.kind !== 'read') return false
  const { journal } = stored
  return journal.epoch > epoch || (journal.epoch === epoch && journal.run !== run)
}

/** Same pod, other address: its sandbox died. Its entries in the load balancers mean an address that is nobody's. */
export function isMoved({ gone, pod, address, record }: Pick<PodContext, 'gone' | 'pod' | 'address' | 'record'>): boolean {
  return !gone && address !== undefined && pod.ip !== undefined && pod.ip !== address && (record?.targets.length ?? 0) > 0
}

export function isVanished(context: Pick<PodContext, 'gone' | 'pod' | 'address' | 'record'>): boolean {
  return isEnding(context) || isMoved(context)
}

/** It will not serve again: deleted, being deleted, or at its end (evicted). */
export function isEnding({ gone, pod }: Pick<PodContext, 'gone' | 'pod'>): boolean {
  return gone || pod.deleting || pod.finished
}

/** In no load balancer, or an operator has it out of all of them. */
export function hasNoTouchedTargets({ record }: Pick<PodContext, 'record'>): boolean {
  return record?.targets.every(({ untouched }) => untouched) ?? true
}

/** What has come in its place is drained by a record of its own, which is what counts. */
export function isHeirDrained({ heir }: Pick<PodContext, 'heir'>): boolean {
  return heir?.sameAddress === true && heir.isDrained
}

/**
 * It asks for other images than it had before the drain: whoever has patched it, nothing has proven what runs now. By the
 * record as it is stored: the next one is made of what the pod asks for now. Where somebody has removed that, or made it
 * unreadable, by the last one that could be read. Found by simulation (seed 2950278): an earlier run had patched it.
 */
export function isPatchedElsewhere({
  stored,
  pod,
  record,
  lastRead,
}: Pick<PodContext, 'stored' | 'pod' | 'record' | 'lastRead'>): boolean {
  const known = stored.kind === 'read' ? openJournal(stored) : (lastRead ?? record)
  const baseline = known?.baseline ?? []
  return baseline.some(({ name, image }) => pod.containers.some((one) => one.name === name && one.image !== image))
}

/** This owner waits for the restart, or had seen it, and somebody else has patched the pod since. */
export function isRewritten(context: Pick<PodContext, 'pod' | 'wanted' | 'record' | 'restart'>): boolean {
  return context.restart !== undefined && asksForOthers(context)
}

export function asksForOthers(context: Pick<PodContext, 'pod' | 'wanted' | 'record'>): boolean {
  return !asksFor(context.pod, goalOf(context))
}

/**
 * The images that the pod comes home on: those that it is to run, and those that an earlier request has patched besides.
 * Found by reading: a command that asked for no image, or for another container's, put a pod back whose patched container
 * was still the old one.
 */
function homeOf(context: Pick<PodContext, 'record' | 'pod' | 'wanted'>): ContainerImage[] {
  const goal = goalOf(context)
  const besides = patchedImages(context.pod, context.record).filter(
    ({ container }) => !goal.some((one) => one.container === container),
  )
  return [...goal, ...besides]
}

/** What is known of the restart as of now; continued by each observation. */
export function beginRestartOf(context: Pick<PodContext, 'record' | 'pod' | 'wanted'>): Restart {
  const { record, pod } = context
  const begun = beginRestart(record?.generation ?? 0, record?.baseline ?? [], homeOf(context))
  // With a generation that was proven before the drain nothing has been patched in since.
  const isSame = begun.generation > 0 && record?.proven === begun.generation && pod.observedGeneration >= begun.generation
  return observeRestart(isSame ? provenSince(begun) : begun, pod)
}

/** The patched containers are proven, they and the pod are ready, and its endpoints are back that were there before. */
export function isReady(context: Pick<PodContext, 'restart' | 'pod' | 'wanted' | 'record' | 'endpoints'>): boolean {
  return notReadyReason(context) === undefined
}

export function notReadyReason(
  context: Pick<PodContext, 'restart' | 'pod' | 'wanted' | 'record' | 'endpoints'>,
): Reason | undefined {
  const { restart, pod } = context
  const goal = homeOf(context)
  // Then the kubelet is about to replace what is ready now.
  if (!asksFor(pod, goal)) return { code: 'images-changed' }
  if (restart === undefined || restartProof(restart) === undefined) return { code: 'restart-unproven' }
  const reason = unready(
    pod,
    goal.map(({ container }) => container),
  )
  if (reason !== undefined) return reason
  return missingEndpointOf(context)
}

/** Which of the endpoints that it had before the drain is not back. */
export function missingEndpointOf({
  record,
  endpoints,
}: Pick<PodContext, 'record' | 'endpoints'>): ReasonOf<'endpoints-not-back'> | undefined {
  return missingEndpoint(record?.endpoints ?? [], endpoints)
}

/** Milliseconds until a probe would have told that what is called ready is not; see ContainerView. */
export function goalUnprobedMs(context: Pick<PodContext, 'pod' | 'wanted' | 'record'>): number {
  return unprobedMs(
    context.pod,
    homeOf(context).map(({ container }) => container),
  )
}

/** The status of each patched container names the image that it was given. */
export function namesWantedImages({ restart, pod }: Pick<PodContext, 'restart' | 'pod'>): boolean {
  return restart !== undefined && namesWanted(restart, pod)
}

export function restartTroubleOf({ restart, pod }: Pick<PodContext, 'restart' | 'pod'>): ReturnType<typeof restartTrouble> {
  return restart && restartTrouble(restart, pod)
}

/**
 * It was not patched, and runs another image than before all the same: somebody has taken his own back, and that is about to go.
 * Found by simulation (harsh seed 4527).
 */
function runsOthers(record: Journal | undefined, pod: PodView): boolean {
  return (record?.baseline ?? []).some(({ name, imageId }) => {
    const now = pod.containers.find((one) => one.name === name)
    const isSame = imageId === undefined || now?.imageId === undefined || now.imageId === imageId
    return now !== undefined && !isSame && !runsImage(now, now.image)
  })
}

/** The restore intent was written for it, perhaps long ago: may it still be put back? */
export function isFit(context: Pick<PodContext, 'pod' | 'stored' | 'record' | 'lastRead'>): boolean {
  const { pod, record } = context
  // Where other images were patched in and taken back, the kubelet may be about to kill what is ready, for them.
  if (!isSpecObserved(pod)) return false
  if (record?.generation === undefined) return pod.ready && !isPatchedElsewhere(context) && !runsOthers(record, pod)
  const patched = record.baseline.map(({ name }) => name)
  if (unready(pod, patched) !== undefined) return false
  // Somebody has changed its spec since it was patched: what is ready may be what the kubelet is about to replace.
  const isAsPatched = record.generation === 0 || pod.generation <= record.generation
  return isAsPatched || pod.containers.every((one) => !patched.includes(one.name) || isNamedAsAsked(one))
}
