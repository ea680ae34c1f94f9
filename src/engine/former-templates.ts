import { formerTemplate } from '../journal/former-template.ts'
import type { Ledger, LedgerWorkload } from '../journal/ledger.ts'
import { asksFor } from '../pods/baseline.ts'
import type { ContainerImage } from '../pods/glossary.ts'
import { messageOf } from './errors.ts'
import type { MixedWorkload, RunEventBody } from './events.ts'
import type { AssessedWorkload } from './planning.ts'
import { imageWords } from '../pods/image-words.ts'
import type { World } from './world.ts'

/* Templates that a run has changed get the images back that its pods had, so that a pod that is made anew comes up on those. */

interface FormerTemplates {
  ledger: Ledger
  world: World
  isOwned(): Promise<boolean>
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
): Promise<string[]> {
  const { ledger, ended, world } = options
  const set = [ledger, ...ended].flatMap(({ header }) => header.images)
  const left: string[] = []
  for (const { recorded, former } of changedByAny([ledger, ...ended])) {
    const found = world.workloads.find(({ workload }) => workload.uid === recorded.uid)
    const message = found
      ? await putBack(found, recorded, { ...options, former, set })
      : `the template of ${shown(recorded)} was left as it is: it is not part of this run any more`
    if (message !== undefined) left.push(message)
  }
  return left
}

interface Changed {
  /** The newest run that has changed the template. */
  by: Ledger
  recorded: LedgerWorkload
  /** What it had before all of these runs. */
  former: ContainerImage[]
}

/**
 * Of these runs, the newest first, that end together. Found by reading: a run of one of two workloads found the template as the
 * run before, of both, had set it, and an abort of the two left it so.
 */
function changedByAny(runs: readonly Ledger[]): Changed[] {
  const [newest, ...others] = runs
  if (newest === undefined) return []
  const own = changedBy(newest).map((recorded) => ({ by: newest, recorded, former: beforeAll(recorded, runs) }))
  const isItsOwn = ({ by, recorded }: Changed): boolean =>
    own.some((one) => one.recorded.uid === recorded.uid) || (isOf(recorded, newest) && !isWhatWasSet(newest, by, recorded))
  return [...own, ...changedByAny(others).filter((earlier) => !isItsOwn(earlier))]
}

/** Also where it was deleted and made again since. */
function isOf({ kind, name }: LedgerWorkload, { header }: Ledger): boolean {
  return header.workloads.some((one) => one.kind === kind && one.name === name)
}

/** A run that has changed nothing in a template has found its own images there: whose they were is told by that. */
function isWhatWasSet({ header: { workloads, images } }: Ledger, by: Ledger, { uid, before }: LedgerWorkload): boolean {
  const isSet = ({ container }: ContainerImage): boolean =>
    images.some((one) => one.container === container && one.image === imageIn(by, container))
  return workloads.some((one) => one.uid === uid) && before!.every(isSet)
}

function imageIn({ header }: Ledger, name: string): string | undefined {
  return header.images.find(({ container }) => container === name)?.image
}

/**
 * What its template had before all of these runs, the newest first: what that has found there, or its pods on, may be what one
 * before it has set. Found by simulation (seed 31599625): a run came to one of two pods, its undo, which is about that one alone,
 * was aborted, and the template stayed on the new images that no pod had any more.
 */
function beforeAll(recorded: LedgerWorkload, [newest, ...others]: readonly Ledger[]): ContainerImage[] {
  return formerTemplate(newest!, recorded).map((one) => beforeSet(one, recorded, others))
}

function beforeSet(
  found: ContainerImage,
  { uid }: Pick<LedgerWorkload, 'uid'>,
  [older, ...others]: readonly Ledger[],
): ContainerImage {
  if (older === undefined) return found
  const recorded = changedBy(older).find((one) => one.uid === uid)
  if (recorded === undefined || imageIn(older, found.container) !== found.image) return beforeSet(found, { uid }, others)
  return beforeAll(recorded, [older, ...others]).find(({ container }) => container === found.container) ?? found
}

/** Of an abort that put every template back: where some pods are not on what their template has now. */
export function mixedAfterAbort({
  ledger,
  ended,
  world: { workloads, store },
}: Pick<FormerTemplates, 'ledger' | 'world'> & { ended: readonly Ledger[] }): MixedWorkload[] {
  return changedByAny([ledger, ...ended]).flatMap(({ recorded, former }) => {
    const workload = workloads.find((one) => one.workload.uid === recorded.uid)?.workload
    const pods = [...store.all()].filter(({ pod }) => !pod.deleting && workload?.owns(pod))
    const upgraded = pods.filter(({ pod }) => !asksFor(pod, former)).length
    return upgraded === 0 ? [] : [{ workload: shown(recorded), upgraded, pods: pods.length }]
  })
}

/**
 * After a rollback: the next pod that is rescheduled would come up on the images that have just failed. Not where a pod
 * is upgraded already: it would come back on the old ones.
 */
export async function putBackAfterRollback(options: FormerTemplates): Promise<void> {
  const { ledger, world, tell } = options
  // Nothing is left to interrupt: the pods are at their end.
  const { signal } = new AbortController()
  const warn = (message: string): void => tell({ type: 'warning', message })
  for (const recorded of changedBy(ledger)) {
    const found = world.workloads.find(({ workload }) => workload.uid === recorded.uid)
    if (found === undefined) continue
    const upgraded = upgradedPods(found, world)
    if (upgraded > 0) {
      warn(
        `the template of ${shown(recorded)} keeps the new images: ${upgraded} of its pods run them; sluice undo takes them back`,
      )
      continue
    }
    try {
      const former = formerTemplate(ledger, recorded)
      const left = await putBack(found, recorded, { ...options, former, set: ledger.header.images, signal })
      if (left !== undefined) warn(left)
    } catch (error) {
      warn(`the template of ${shown(recorded)} could not be put back to its former images: ${messageOf(error)}`)
    }
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
): Promise<string | undefined> {
  const onProgress = (message: string): void => tell({ type: 'template', workload: shown(recorded), message })
  const put = await workload.putBack(former, set, { signal, isOwned, onProgress, fence })
  if (put.kind === 'left') return put.message
  onProgress(`back to its former images: ${imageWords(former)}`)
  return undefined
}

function changedBy({ header }: Ledger): LedgerWorkload[] {
  return header.workloads.filter(({ before }) => before !== undefined)
}

function shown({ kind, name }: LedgerWorkload): string {
  return `${kind.toLowerCase()}/${name}`
}

/** Of all its pods, also those that the request was not about. */
function upgradedPods({ workload, assessment: { images } }: AssessedWorkload, { store }: World): number {
  return [...store.all()].filter(({ pod }) => !pod.deleting && workload.owns(pod) && asksFor(pod, images)).length
}
