import type { Observation } from '../../machines/pod-upgrade/context.ts'
import { formerTemplate, ownTemplate } from '../journal/former-template.ts'
import type { Ledger, LedgerWorkload } from '../journal/ledger.ts'
import { asksFor } from '../pods/baseline.ts'
import type { ContainerImage, PodView } from '../pods/glossary.ts'
import { displayName, isSameWorkload } from '../pods/workload-id.ts'
import { isHeirIn } from '../workloads/kinds/heirs.ts'
import { reasonOf } from './errors.ts'
import type { RunEventBody } from './events.ts'
import type { MixedWorkload } from '../journal/ledger.ts'
import { imagesAsked, imagesBeside } from './images-beside.ts'
import type { AssessedWorkload } from './planning.ts'
import type { Reason } from '../reasons/reason.ts'
import type { World } from './world.ts'
import type { PrepareOptions } from '../workloads/workload.ts'

/*
 * Templates that a run has changed get the images back that their pods had, so that a pod that is made anew comes up on those; or
 * their own, where the pods differ.
 */

interface FormerTemplates {
  ledger: Ledger
  world: World
  isOwned: PrepareOptions['isOwned']
  tell(event: RunEventBody): void
}

/**
 * After an abort. A template that somebody has edited since is theirs, and left as it is; not what a run has set that is
 * `ended` with this one, which may not have come to its own template.
 * @returns what was left, and why
 * @throws WorkloadError where the API server does not take it in time
 */
export async function putBackAfterAbort(
  options: FormerTemplates & { ended: readonly Ledger[]; signal: AbortSignal; fence: string },
): Promise<Reason[]> {
  const { ledger, ended, world } = options
  const set = [ledger, ...ended].flatMap(({ header }) => header.images)
  const left: Reason[] = []
  for (const { recorded, former } of changedByAny([ledger, ...ended], world)) {
    const found = world.workloads.find(({ workload }) => workload.uid === recorded.uid)
    // Of another run, which goes on with it; or to be had yet, by a run that stays open for it; or gone.
    if (!found && !world.workloads.some(({ workload: { ref } }) => isSameWorkload(ref, recorded))) continue
    const reason = found
      ? await putBack(found, recorded, { ...options, former, set })
      : ({ code: 'template-of-another-run', workload: displayName(recorded) } as const)
    if (reason !== undefined) left.push(reason)
  }
  return left
}

interface Changed {
  recorded: LedgerWorkload
  /** What it had before all of these runs; without containers that have somebody else's images. */
  former: ContainerImage[]
}

/**
 * By these runs, the newest first, that end together. Found by reading: a run of one of two workloads found the template as the
 * run before, of both, had set it, and an abort of the two left it so.
 */
function changedByAny(runs: readonly Ledger[], world: World): Changed[] {
  const changed = runs.flatMap(changedBy)
  const templates = changed.filter(({ uid }, index) => changed.findIndex((one) => one.uid === uid) === index)
  return templates.flatMap((recorded) => {
    const former = beforeAll(recorded, runs, world)
    return former.length === 0 ? [] : [{ recorded, former }]
  })
}

/**
 * Each container by itself. Found by reading: a run found one of two as the run before had set it, and changed the other; an
 * abort of both put back the other alone, and the template had what never ran together.
 */
function beforeAll(template: LedgerWorkload, runs: readonly Ledger[], world: World): ContainerImage[] {
  const containers = new Set(
    runs.flatMap((run, index) => formerImages(run, runs.slice(0, index), template, world).map(({ container }) => container)),
  )
  return Array.from(containers).flatMap((container) => {
    const image = imageBefore(container, template, runs, [], world)
    return image === undefined ? [] : [{ container, image }]
  })
}

/**
 * What the newest has found in the template, or its pods on, may be what one before it has set. Found by simulation (seed
 * 31599625): a run came to one of two pods, its undo, which is about that one alone, was aborted, and the template stayed on the
 * new images that no pod had any more.
 * @returns undefined where none of these has set it: it is somebody else's
 */
function imageBefore(
  container: string,
  template: LedgerWorkload,
  [newest, ...others]: readonly Ledger[],
  later: readonly Ledger[],
  world: World,
): string | undefined {
  if (newest === undefined || isMadeAnew(template, newest)) return undefined
  const former = formerImages(newest, later, template, world).find((one) => one.container === container)?.image
  // What it asks for and has not changed it has found there: an edit of somebody's, unless one before it asked for the same.
  const found = former === undefined ? imagesAsked(newest, template, container) : [former]
  if (found.length === 0) return imageBefore(container, template, others, [...later, newest], world)
  const setter = others.findIndex((older) => imagesAsked(older, template, container).some((image) => found.includes(image)))
  if (setter < 0) return former
  const before = imageBefore(container, template, others.slice(setter), [...later, newest, ...others.slice(0, setter)], world)
  return before ?? former
}

/** It was deleted and made again since. */
function isMadeAnew(recorded: LedgerWorkload, { header }: Ledger): boolean {
  return header.workloads.some((one) => isSameWorkload(one, recorded) && one.uid !== recorded.uid)
}

/** Empty where the run has not changed the template. */
function formerImages(run: Ledger, later: readonly Ledger[], { uid }: LedgerWorkload, world: World): ContainerImage[] {
  return changedBy(run).flatMap((recorded) => (recorded.uid === uid ? formerOf(run, later, recorded, world) : []))
}

/** `later`: those of these runs that have begun since, the newest first. */
function formerOf(run: Ledger, later: readonly Ledger[], recorded: LedgerWorkload, world: World): ContainerImage[] {
  const beside = podsOf(recorded, world).filter(({ pod }) => !run.entries.has(pod.uid))
  return formerTemplate(run, recorded, imagesBeside(run, recorded, beside, later))
}

/** Of an abort that put every template back: where some pods are not on what their template has now. */
export function mixedAfterAbort({
  ledger,
  ended,
  world,
}: Pick<FormerTemplates, 'ledger' | 'world'> & { ended: readonly Ledger[] }): MixedWorkload[] {
  return changedByAny([ledger, ...ended], world).flatMap(({ recorded, former }) => {
    const pods = podsOf(recorded, world)
    const upgraded = pods.filter(({ pod }) => !asksFor(pod, former)).length
    return upgraded === 0 ? [] : [{ workload: displayName(recorded), upgraded, pods: pods.length }]
  })
}

/**
 * After a rollback: the next pod that is rescheduled would come up on the images that have just failed. Not where a pod
 * is upgraded already: it would come back on the old ones.
 * @param options.failed those that were to go back, and those of them that have gone meanwhile
 */
export async function putBackAfterRollback(
  options: FormerTemplates & { ended: readonly Ledger[]; failed: readonly PodView[]; signal: AbortSignal },
): Promise<void> {
  const { ledger, ended, tell } = options
  const world = withoutHeirs(options.failed, options.world)
  // Pods that one before it has left half done go back for its containers too, and the template with them.
  const set = [ledger, ...ended].flatMap(({ header }) => header.images)
  const warn = (reason: Reason): void => tell({ type: 'warning', reason })
  for (const recorded of changedBy(ledger)) {
    const found = world.workloads.find(({ workload }) => workload.uid === recorded.uid)
    if (found === undefined) continue
    const { upgraded = [], made = [] } = onNewImages(found, world)
    if (upgraded.length > 0) {
      warn({ code: 'template-kept', workload: displayName(recorded), upgraded: upgraded.length })
      continue
    }
    try {
      const former = formerOf(ledger, [], recorded, world)
      const left = await putBack(found, recorded, { ...options, former, set })
      if (left !== undefined) warn(left)
      else if (made.length > 0) warn({ code: 'made-before-put-back', pods: made.map(({ pod }) => pod.name) })
    } catch (error) {
      warn({ code: 'template-not-put-back', workload: displayName(recorded), because: reasonOf(error) })
    }
  }
}

/**
 * As the world would be without what the template has made in the place of these: that runs the images that have failed, and is no
 * reason to keep them. Of a run about some pods it is beside them.
 */
function withoutHeirs(failed: readonly PodView[], world: World): World {
  const isHeir = isHeirIn(world.kinds)
  const others = (pods: Iterable<Observation>): Observation[] =>
    [...pods].filter(({ pod }) => !failed.some((gone) => isHeir(gone, pod)))
  return {
    ...world,
    store: { ...world.store, all: () => others(world.store.all()) },
    beside: { ...world.beside, all: () => others(world.beside.all()) },
  }
}

interface PutBack extends Pick<FormerTemplates, 'tell' | 'isOwned'> {
  former: readonly ContainerImage[]
  /** By the runs that are ended: what else is there is somebody's edit. */
  set: readonly ContainerImage[]
  signal: AbortSignal
  fence?: string
}

/** Why it was left as it is, if it was. */
async function putBack(
  { workload }: AssessedWorkload,
  recorded: LedgerWorkload,
  { former, set, tell, signal, isOwned, fence }: PutBack,
): Promise<Reason | undefined> {
  const onProgress = (reason: Reason): void => tell({ type: 'template', workload: displayName(recorded), reason })
  const put = await workload.putBack(former, set, { signal, isOwned, onProgress, fence })
  if (put.kind === 'left') return put.reason
  onProgress({ code: 'template-put-back', images: [...former] })
  return undefined
}

function changedBy({ header }: Ledger): LedgerWorkload[] {
  return header.workloads.filter((one) => ownTemplate(one) !== undefined)
}

/**
 * What the template has made, and was never ready, is not upgraded. Found by a breaker: one was evicted while another failed, came up
 * on the image that had failed, and counted; the template kept that image, and the next that was evicted was lost as well.
 */
function onNewImages(
  { workload, assessment: { images } }: AssessedWorkload,
  world: World,
): Partial<Record<'upgraded' | 'made', Observation[]>> {
  const some = podsOf(workload, world).filter(({ pod }) => asksFor(pod, images))
  return Object.groupBy(some, ({ pod, stored }) => (pod.ready || stored.kind !== 'none' ? 'upgraded' : 'made'))
}

/**
 * Also those that the request is not about. Found by reading: by label the store has none of these, and the template went back
 * although one of them was upgraded. By name they are in both.
 */
function podsOf({ uid }: Pick<LedgerWorkload, 'uid'>, { workloads, store, beside }: World): Observation[] {
  const workload = workloads.find((one) => one.workload.uid === uid)?.workload
  const all = new Map([...beside.all(), ...store.all()].map((one) => [one.pod.uid, one]))
  return [...all.values()].filter(({ pod }) => !pod.deleting && workload?.owns(pod))
}
