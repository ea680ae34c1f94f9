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
 * Templates that a run has changed get the former images of their pods back, so that new pods start with those. Where the pods differ, a
 * template gets its own former images.
 */

interface FormerTemplates {
  ledger: Ledger
  world: World
  isOwned: PrepareOptions['isOwned']
  tell(event: RunEventBody): void
}

/**
 * Puts the templates back after an abort. A template that was edited since is left as it is. A template that an `ended` run has set counts
 * as set by this one, which may not have come to its own template.
 * @returns the templates that were left, with the reasons
 * @throws WorkloadError where the API server does not accept the change in time
 */
export async function putBackAfterAbort(
  options: FormerTemplates & { ended: readonly Ledger[]; signal: AbortSignal; fence: string },
): Promise<Reason[]> {
  const { ledger, ended, world } = options
  const set = [ledger, ...ended].flatMap(({ header }) => header.images)
  const left: Reason[] = []
  for (const { recorded, former } of changedByAny([ledger, ...ended], world)) {
    const found = world.workloads.find(({ workload }) => workload.uid === recorded.uid)
    // The workload belongs to another run, or to a run that stays open for it, or is gone.
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
  /** The images of the template before all of these runs, without containers that have another writer's images. */
  former: ContainerImage[]
}

/**
 * The templates that these runs changed, the newest run first. A run may find the template as an earlier one has set it, and both end
 * together.
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
 * The former image of each container by itself. A run can find one container as an earlier run has set it, and change another. Put back
 * alone, the second one would make a template whose images never ran together.
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
 * The image of a container before these runs. The image that the newest run found may be the one that an earlier run had set.
 * @returns undefined where none of these runs has set the image, so that it is another writer's
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
  // An image that the run asks for and has not changed was there before: an edit, unless an earlier run asked for it too.
  const found = former === undefined ? imagesAsked(newest, template, container) : [former]
  if (found.length === 0) return imageBefore(container, template, others, [...later, newest], world)
  const setter = others.findIndex((older) => imagesAsked(older, template, container).some((image) => found.includes(image)))
  if (setter < 0) return former
  const before = imageBefore(container, template, others.slice(setter), [...later, newest, ...others.slice(0, setter)], world)
  return before ?? former
}

/** Reports whether the workload was deleted and made again since. */
function isMadeAnew(recorded: LedgerWorkload, { header }: Ledger): boolean {
  return header.workloads.some((one) => isSameWorkload(one, recorded) && one.uid !== recorded.uid)
}

/** The images before the run. Empty where the run has not changed the template. */
function formerImages(run: Ledger, later: readonly Ledger[], { uid }: LedgerWorkload, world: World): ContainerImage[] {
  return changedBy(run).flatMap((recorded) => (recorded.uid === uid ? formerOf(run, later, recorded, world) : []))
}

/** `later`: the runs among these that began later, the newest first. */
function formerOf(run: Ledger, later: readonly Ledger[], recorded: LedgerWorkload, world: World): ContainerImage[] {
  const beside = podsOf(recorded, world).filter(({ pod }) => !run.entries.has(pod.uid))
  return formerTemplate(run, recorded, imagesBeside(run, recorded, beside, later))
}

/** The workloads whose pods differ from their template after an abort that put every template back. */
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
 * Puts the templates back after a rollback, since new pods would get the images that failed. A template with an upgraded pod stays: that
 * pod would come back on the old images.
 * @param options.failed the pods that were to go back, including those that have gone meanwhile
 */
export async function putBackAfterRollback(
  options: FormerTemplates & { ended: readonly Ledger[]; failed: readonly PodView[]; signal: AbortSignal },
): Promise<void> {
  const { ledger, ended, tell } = options
  const world = withoutHeirs(options.failed, options.world)
  // The pods that an earlier run left half done go back for its containers too, and so does the template.
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
 * The world without the replacements of these pods. A replacement runs the images that failed, and is no reason to keep them. In a run
 * about some pods, it is beside them.
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
  /** The images that the ended runs have set. Any other image in the template is an edit. */
  set: readonly ContainerImage[]
  signal: AbortSignal
  fence?: string
}

/** Puts one template back. Returns the reason where it was left as it is. */
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
 * Groups the pods on the new images. A pod that the template made and that was never ready is not upgraded: it must not make the template
 * keep the images that failed.
 */
function onNewImages(
  { workload, assessment: { images } }: AssessedWorkload,
  world: World,
): Partial<Record<'upgraded' | 'made', Observation[]>> {
  const some = podsOf(workload, world).filter(({ pod }) => asksFor(pod, images))
  return Object.groupBy(some, ({ pod, stored }) => (pod.ready || stored.kind !== 'none' ? 'upgraded' : 'made'))
}

/**
 * All pods of the workload, including those that the request does not include. In a run by label the store lacks these. In a run by name
 * both have them.
 */
function podsOf({ uid }: Pick<LedgerWorkload, 'uid'>, { workloads, store, beside }: World): Observation[] {
  const workload = workloads.find((one) => one.workload.uid === uid)?.workload
  const all = new Map([...beside.all(), ...store.all()].map((one) => [one.pod.uid, one]))
  return [...all.values()].filter(({ pod }) => !pod.deleting && workload?.owns(pod))
}
