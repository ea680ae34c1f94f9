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

/* The facts by which the machine decides: pure functions of the record and the observation. */

type Known = Pick<PodContext, 'pod' | 'stored' | 'run' | 'epoch' | 'lease' | 'wanted' | 'record' | 'endpoints'>

/**
 * The open record under the name of this owner. Prior state and attempt stay those of the earlier owner. A new inspection would read
 * "drained", and a restore would then put back that state.
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
    // Another run sets the images anew, and may not find the images of an earlier rollback. So its record has no rollback.
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
  // The journal is gone with the pod. The ledger tells which targets may be drained.
  if (gone && targets && targets.length > 0) return { run, epoch, attempt: 1, step: 'drain', baseline: [], targets }
  return undefined
}

/**
 * The images that the pod is to run now: the images of the rollback, else the wanted images. A pod that is not drained gets only the images
 * of containers that need no drain. The other images need an attempt of their own, after this one is closed.
 */
export function goalOf({ wanted, record }: Pick<PodContext, 'wanted' | 'record'>): ContainerImage[] {
  return record?.rollback ?? withinUndrained(record, wanted)
}

/** Reports whether the pod asks for other images than the request, whatever their containers need. */
export function differsFromRequest({ pod, wanted }: Pick<PodContext, 'pod' | 'wanted'>): boolean {
  return !asksFor(pod, wanted)
}

/** The images that a failed pod goes back to. Undefined where the pod was rolled back before, or has no other former images. */
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

/** The record of a rollback. The rollback is a second patch in the same attempt. */
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
 * The open record with its fence raised by one. A record that was removed is taken as it was read last. Images whose write tests the former
 * fence can no longer land.
 */
export function fencedRecord(context: Parameters<typeof reopened>[0] & Pick<PodContext, 'lastRead'>): Journal {
  const lost = lostRecord(context)
  const record = reopened(lost ? { ...context, stored: { kind: 'read', journal: beforeRestore(lost) } } : context)!
  return { ...record, fence: 1 + (record.fence ?? 0) }
}

/** The open record that was removed from the pod, or made unreadable. */
export function lostRecord({ stored, lastRead }: Pick<PodContext, 'stored' | 'lastRead'>): Journal | undefined {
  return isOpen(stored) ? undefined : lastRead
}

/** The record with its step before the restore. A pod that gets other images cannot be restored on its former images. */
function beforeRestore(record: Journal): Journal {
  if (record.step !== 'restore') return record
  return { ...record, step: record.generation === undefined ? 'drain' : 'patched' }
}

/**
 * Reports whether images that were sent with this record can no longer land: their write tests a fence that the stored record does not have
 * any more.
 */
export function isFenced({ stored, record, lastRead }: Pick<PodContext, 'stored' | 'record' | 'lastRead'>): boolean {
  const journal = openJournal(stored)
  return journal === undefined ? lastRead === undefined : (journal.fence ?? 0) > (record?.fence ?? 0)
}

/** The fence that the write of a patch tests. */
function fenceOf({ stored }: Pick<PodContext, 'stored'>): Pick<Journal, 'fence'> {
  const fence = openJournal(stored)?.fence
  return fence === undefined ? {} : { fence }
}

/** Reports whether the rollback that an earlier owner began is stored. The write of that owner can land late. */
export function isRollbackStored({ stored, run, record }: Pick<PodContext, 'stored' | 'run' | 'record'>): boolean {
  const journal = openJournal(stored)
  return journal?.rollback !== undefined && journal.run === run && record?.rollback === undefined
}

/** The record as it is stored, with the target ids that this owner has found. */
export function reopened(
  context: Pick<PodContext, 'stored' | 'run' | 'epoch' | 'lease' | 'gone' | 'targets' | 'record' | 'keepsPatch'>,
): Journal | undefined {
  const stored = openRecord(context)
  return stored && context.record ? followed(stored, context.record.targets) : (stored ?? context.record)
}

/** The images that the pod's spec has for the patched containers. */
export function patchedImages(pod: PodView, record: Journal | undefined): ContainerImage[] {
  const patched = new Set(record?.baseline.map(({ name }) => name))
  return pod.containers.flatMap(({ name, image }) => (patched.has(name) ? [{ container: name, image }] : []))
}

/** The record with other targets: load balancer entries that were pointed at another address have other ids. */
export function followed(record: Journal, targets: JournalTarget[] | undefined): Journal {
  return targets === undefined ? record : { ...record, targets }
}

/** The attempt that the next drain begins, or continues. */
function attemptAfter({ stored }: Pick<PodContext, 'stored'>): number {
  if (stored.kind !== 'read') return 1
  return stored.journal.attempt + (stored.journal.step === 'closed' ? 1 : 0)
}

/**
 * Reports whether an attempt ended after this record was made. The prior state in the record may then come from the middle of that attempt.
 */
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
  // A container may have restarted since the drain. So the baseline is that of the pod as the guards of this patch describe it.
  if (step === 'patched') {
    const goal = goalOf(context)
    const baseline = baselineAfter(openJournal(context.stored), pod, goal)
    return { ...record, ...fenceOf(context), step, baseline, generation: generationAfter(pod, goal) }
  }
  return { ...record, step, ...(step === 'restore' ? { targets: unsaid(record), ...provenNow(record) } : {}) }
}

/** The proven generation before the drain. The record of the last upgrade holds it, and the drain intent replaces that record. */
function provenBefore({ pod, stored }: Pick<PodContext, 'pod' | 'stored'>): Pick<Journal, 'proven'> {
  const proven = provenGeneration(pod, stored)
  return proven === undefined ? {} : { proven }
}

/** The generation of the patch counts as proven, since a patched pod is restored only after the proof of its restart. */
function provenNow({ generation }: Journal): Pick<Journal, 'proven'> {
  return generation ? { proven: generation } : {}
}

/**
 * The baseline by which the next patch is judged. A container that an earlier patch of this attempt changed, and this one does not, keeps
 * its baseline from before that patch. The kubelet may not have replaced it yet, so its restart still needs a proof.
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

/** Removes a person's statements about the drain, which do not hold for the restore. Statements made during the restore stay. */
function unsaid({ step, targets }: Journal): JournalTarget[] {
  if (step === 'restore') return targets
  return targets.map((target) => {
    const { said: _, ...rest } = target
    return rest
  })
}

/** The record of a re-admission. It names no patch, and keeps the baseline of the containers from before the drain. */
export function readmission({ record, stored }: Pick<PodContext, 'record' | 'stored'>): Journal {
  // The record in the context may be that of a patch that was not stored.
  const { generation: _, ...rest } = { ...record!, baseline: (openJournal(stored) ?? record!).baseline }
  return { ...rest, step: 'restore', targets: unsaid(rest) }
}

/**
 * Reports whether the kubelet may be about to replace a container. Another writer can have patched an image in, or back. A pod in that
 * state is not ready for a restore, even if sluice's own patch was refused.
 */
export function isRestless({ pod, stored }: Pick<PodContext, 'pod' | 'stored'>): boolean {
  return !isProvenSpec(pod, stored) && misnamed(pod) !== undefined
}

/** The first running container whose status names another image than its spec. */
export function misnamed({ containers }: PodView): ContainerView | undefined {
  return containers.find((container) => container.running && !isNamedAsAsked(container))
}

/** Reports the result of isRestless for the replacement. No record of this run proves the spec of the replacement. */
export function isHeirRestless({ heir }: Pick<PodContext, 'heir'>): boolean {
  return heir != null && isRestless({ pod: heir.pod, stored: { kind: 'none' } })
}

/** The time after the grace period until an unchanged container counts as proven. */
const QUIET_MARGIN_MS = 5_000
/**
 * The margin in place of QUIET_MARGIN_MS where the status of a container does not name the wanted image. A kubelet that stops right after
 * it has seen the patch leaves the old image in the status. Within this time the node controller marks such a pod not ready.
 */
export const UNNAMED_MARGIN_MS = 60_000

/**
 * Reports whether the pod returns to its former images, by a rollback or an undo. The kubelet may then delay the start of a container that
 * ended shortly before.
 */
export function isWayBack({ record, undoes }: Pick<PodContext, 'record' | 'undoes'>): boolean {
  return record?.rollback !== undefined || undoes === true
}

/** The time for which no container may change, where time alone proves the running images. */
export function quietMs(context: Pick<PodContext, 'pod' | 'restart'>): number {
  return context.pod.gracePeriodSeconds * 1000 + (namesWantedImages(context) ? QUIET_MARGIN_MS : UNNAMED_MARGIN_MS)
}

/** Reports whether the pod has the record of the context. */
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
 * Reports whether the images of this record have landed. A record that was removed or made unreadable counts as it was read last. Otherwise
 * sluice would write over images that another writer has set since.
 */
export function hasLanded({ stored, record, lastRead }: Pick<PodContext, 'stored' | 'record' | 'lastRead'>): boolean {
  const lost = lostRecord({ stored, lastRead })
  return record?.step === 'patched' && isRecorded({ stored: lost ? { kind: 'read', journal: lost } : stored, record })
}

/**
 * Reports whether two records have the same patch. The claim of a record that an earlier run has patched is not the patch with the new
 * images of this attempt.
 */
function isSamePatch(a: Journal, b: Journal): boolean {
  const imagesOf = ({ baseline }: Journal): string => JSON.stringify(baseline.map(({ name, image }) => [name, image]))
  return a.generation === b.generation && imagesOf(a) === imagesOf(b)
}

/** Reports whether a later owner has written the journal. */
export function isUsurped({ stored, run, epoch }: Pick<PodContext, 'stored' | 'run' | 'epoch'>): boolean {
  if (stored.kind !== 'read') return false
  const { journal } = stored
  return journal.epoch > epoch || (journal.epoch === epoch && journal.run !== run)
}

/**
 * Reports whether the same pod has another address, after its sandbox died. Its entries in the load balancers have the old address, which
 * may be no pod's.
 */
export function isMoved({ gone, pod, address, record }: Pick<PodContext, 'gone' | 'pod' | 'address' | 'record'>): boolean {
  return !gone && address !== undefined && pod.ip !== undefined && pod.ip !== address && (record?.targets.length ?? 0) > 0
}

export function isVanished(context: Pick<PodContext, 'gone' | 'pod' | 'address' | 'record'>): boolean {
  return isEnding(context) || isMoved(context)
}

/** Reports whether the pod will not serve again: deleted, terminating, or ended (evicted). */
export function isEnding({ gone, pod }: Pick<PodContext, 'gone' | 'pod'>): boolean {
  return gone || pod.deleting || pod.finished
}

/** Reports whether sluice drains no target of the pod: the pod is in no load balancer, or an operator has taken it out of all. */
export function hasNoTouchedTargets({ record }: Pick<PodContext, 'record'>): boolean {
  return record?.targets.every(({ untouched }) => untouched) ?? true
}

/** Reports whether the replacement was drained under a record of its own. That record decides then. */
export function isHeirDrained({ heir }: Pick<PodContext, 'heir'>): boolean {
  return heir?.sameAddress === true && heir.isDrained
}

/**
 * Reports whether the pod has other images than before the drain, so that nothing proves the running containers. The stored record is the
 * measure, since the next record copies the images of the pod. Without a readable record, the last record that could be read counts.
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

/** Reports whether another writer has patched the pod since this owner began to wait for the restart. */
export function isRewritten(context: Pick<PodContext, 'pod' | 'wanted' | 'record' | 'restart'>): boolean {
  return context.restart !== undefined && asksForOthers(context)
}

export function asksForOthers(context: Pick<PodContext, 'pod' | 'wanted' | 'record'>): boolean {
  return !asksFor(context.pod, goalOf(context))
}

/**
 * The images with which the pod goes back into rotation: its goal, and the images that an earlier request has patched into other
 * containers. The pod must not be restored while such a container still runs its old image.
 */
function homeOf(context: Pick<PodContext, 'record' | 'pod' | 'wanted'>): ContainerImage[] {
  const goal = goalOf(context)
  const besides = patchedImages(context.pod, context.record).filter(
    ({ container }) => !goal.some((one) => one.container === container),
  )
  return [...goal, ...besides]
}

/** The state of the restart proof now. Each observation continues it. */
export function beginRestartOf(context: Pick<PodContext, 'record' | 'pod' | 'wanted'>): Restart {
  const { record, pod } = context
  const begun = beginRestart(record?.generation ?? 0, record?.baseline ?? [], homeOf(context))
  // A patch whose generation was proven before the drain has changed no spec since.
  const isSame = begun.generation > 0 && record?.proven === begun.generation && pod.observedGeneration >= begun.generation
  return observeRestart(isSame ? provenSince(begun) : begun, pod)
}

/** Reports whether the restarts are proven, the pod and its patched containers are ready, and its earlier endpoints are back. */
export function isReady(context: Pick<PodContext, 'restart' | 'pod' | 'wanted' | 'record' | 'endpoints'>): boolean {
  return notReadyReason(context) === undefined
}

export function notReadyReason(
  context: Pick<PodContext, 'restart' | 'pod' | 'wanted' | 'record' | 'endpoints'>,
): Reason | undefined {
  const { restart, pod } = context
  const goal = homeOf(context)
  // With other images in the spec, the kubelet is about to replace the ready container.
  if (!asksFor(pod, goal)) return { code: 'images-changed' }
  if (restart === undefined || restartProof(restart) === undefined) return { code: 'restart-unproven' }
  const reason = unready(
    pod,
    goal.map(({ container }) => container),
  )
  if (reason !== undefined) return reason
  return missingEndpointOf(context)
}

/** The first endpoint from before the drain that is not back. */
export function missingEndpointOf({
  record,
  endpoints,
}: Pick<PodContext, 'record' | 'endpoints'>): ReasonOf<'endpoints-not-back'> | undefined {
  return missingEndpoint(record?.endpoints ?? [], endpoints)
}

/** The milliseconds until a probe would have found that a container which is called ready is not. See ContainerView. */
export function goalUnprobedMs(context: Pick<PodContext, 'pod' | 'wanted' | 'record'>): number {
  return unprobedMs(
    context.pod,
    homeOf(context).map(({ container }) => container),
  )
}

/** Reports whether the status of each patched container names its new image. */
export function namesWantedImages({ restart, pod }: Pick<PodContext, 'restart' | 'pod'>): boolean {
  return restart !== undefined && namesWanted(restart, pod)
}

export function restartTroubleOf({ restart, pod }: Pick<PodContext, 'restart' | 'pod'>): ReturnType<typeof restartTrouble> {
  return restart && restartTrouble(restart, pod)
}

/**
 * Reports whether a pod without a patch of sluice runs another image than before. Another writer has patched the pod and taken that back,
 * so the kubelet is about to replace the container.
 */
function runsOthers(record: Journal | undefined, pod: PodView): boolean {
  return (record?.baseline ?? []).some(({ name, imageId }) => {
    const now = pod.containers.find((one) => one.name === name)
    const isSame = imageId === undefined || now?.imageId === undefined || now.imageId === imageId
    return now !== undefined && !isSame && !runsImage(now, now.image)
  })
}

/** Reports whether the pod may be put back now. The restore intent may be old. */
export function isFit(context: Pick<PodContext, 'pod' | 'stored' | 'record' | 'lastRead'>): boolean {
  const { pod, record } = context
  // With other images patched in and taken back, the kubelet may be about to kill a container that is ready.
  if (!isSpecObserved(pod)) return false
  if (record?.generation === undefined) return pod.ready && !isPatchedElsewhere(context) && !runsOthers(record, pod)
  const patched = record.baseline.map(({ name }) => name)
  if (unready(pod, patched) !== undefined) return false
  // A spec that was changed after the patch can make the kubelet replace a container that is ready.
  const isAsPatched = record.generation === 0 || pod.generation <= record.generation
  return isAsPatched || pod.containers.every((one) => !patched.includes(one.name) || isNamedAsAsked(one))
}
