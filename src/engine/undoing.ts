import type { Reason, ReasonOf } from '../reasons/reason.ts'
import type { Observation } from '../../machines/pod-upgrade/context.ts'
import { formerTemplate } from '../journal/former-template.ts'
import type { Ledger, LedgerEntry, LedgerWorkload, ReadLedger } from '../journal/ledger.ts'
import { asksFor } from '../pods/baseline.ts'
import type { ContainerImage, PodView } from '../pods/glossary.ts'
import type { GonePod } from '../pods/heir.ts'
import { displayName, isOwnedBy, isSameWorkload, type WorkloadId } from '../pods/workload-id.ts'
import { isHeirIn } from '../workloads/kinds/heirs.ts'
import type { Kinds } from '../workloads/kinds/kinds.ts'
import { isPod } from '../workloads/kinds/pod.ts'
import { isTemplateWritten } from '../workloads/kinds/kind.ts'
import type { Workload } from '../workloads/workload.ts'
import { RunError } from './errors.ts'
import { imagesBeside } from './images-beside.ts'
import { hasChanged } from './ledgers/has-changed.ts'

/** A run that is to be undone, and where each pod and template goes back to. */
export interface Undoing {
  run: string
  /** What it had asked for. */
  images: ContainerImage[]
  /** Nobody has named it, and an abort has ended it: whose, and the newest run before it that no abort has. */
  aborted?: { by: string; before?: string }
  /** Empty where the run had nothing to do with the pod: it stays as it is. */
  imagesOf(pod: PodView): ContainerImage[]
  /** The revision that the pod had, where it goes back to other images than its template does: it does not count as updated. */
  labelOf(pod: PodView, template: readonly ContainerImage[]): string | undefined
  /** Empty where the template stays as it is. */
  templateOf(workload: Workload): ContainerImage[]
}

export interface UndoRequest {
  /** Absent: the newest one. */
  run?: string
}

/**
 * Finds the run to be undone among the records of a workload. The newest is the newest that was no undo itself, so that
 * the same command once more has nothing left to do.
 * @param pods of the workloads, also those that the request is not about
 * @throws RunError of kind `preflight`
 */
export function undoing(
  { run }: UndoRequest,
  workloads: readonly Workload[],
  found: readonly ReadLedger[],
  { kinds, pods }: { kinds: Kinds; pods: readonly Observation[] },
): Undoing {
  const isHeir = isHeirIn(kinds)
  const names = workloads.map(({ ref }) => displayName(ref))
  const readable = found.flatMap((one) => (one.kind === 'read' ? [one.ledger] : []))
  const ours = readable
    .filter(({ header }) => header.workloads.some((one) => workloads.some((workload) => isSame(one, workload))))
    .toSorted((a, b) => (a.header.startedAt < b.header.startedAt ? 1 : -1))
  const unreadable = found.flatMap((one) => (one.kind === 'unreadable' ? [one] : []))
  const broken = unreadable.find((one) => one.run === run)
  if (broken) throw refusal({ code: 'run-unreadable', run: broken.run, problem: broken.problem })
  if (run === undefined && unreadable.length > 0) {
    throw refusal({ code: 'newest-run-unknown', workloads: names, unreadable: unreadable.map((one) => one.run) })
  }
  const ledger = run === undefined ? ours.find(isUpgrade) : ours.find(({ header }) => header.run === run)
  if (!ledger) throw refusal(missing(names, run, ours))
  const { entries } = ledger
  // What it has settled for pods that were gone, it has not changed: of those it need not say it.
  if (isUpgrade(ledger) && [...entries.values()].some(({ before, state }) => before === undefined && state === 'open'))
    throw refusal({ code: 'no-images-before', run: ledger.header.run })

  const entryOf = (pod: PodView): LedgerEntry | undefined => {
    const own = entries.get(pod.uid)
    if (own) return own
    const before = [...entries.values()].filter((entry) => isHeir(goneOf(entry, workloads), pod))
    return before.find((entry) => entry.before) ?? before[0]
  }
  // Found by reading: a run about one of two pods was undone, and the template got what that one had had, which the other had not.
  const besideOf = (recorded: LedgerWorkload): Observation[] => {
    const workload = workloads.find((one) => isSame(recorded, one))
    if (workload === undefined || !isTemplateWritten(workload.kind)) return []
    return pods.filter(({ pod }) => !pod.deleting && workload.owns(pod) && entryOf(pod)?.before === undefined)
  }
  // Each once: what a pod goes back to is asked for again and again.
  const templates = ledger.header.workloads.map((recorded) => ({
    recorded,
    images: formerTemplate(ledger, recorded, imagesBeside(ledger, recorded, besideOf(recorded))),
  }))
  const templateOf = (isIt: (recorded: LedgerWorkload) => boolean): ContainerImage[] =>
    templates.find(({ recorded }) => isIt(recorded))?.images ?? []
  const imagesOf = (pod: PodView): ContainerImage[] => {
    const entry = entryOf(pod)
    if (!entry || entry.before) return entry?.before?.images ?? []
    // In the place of one that was gone before the run: it goes back with the template that it was made from, if it was.
    return asksFor(pod, ledger.header.images) ? templateOf((recorded) => isOwnedBy(entry, recorded)) : []
  }
  const { aborted } = ledger.header
  const former = ours.slice(ours.indexOf(ledger) + 1).find((one) => isUpgrade(one) && !one.header.aborted)?.header.run
  return {
    run: ledger.header.run,
    images: ledger.header.images,
    ...(aborted && run === undefined && { aborted: { by: aborted.by, ...(former && { before: former }) } }),
    imagesOf,
    labelOf(pod, template) {
      const before = entryOf(pod)?.before
      const isOther = before?.images.some(
        ({ container, image }) => template.find((one) => one.container === container)?.image !== image,
      )
      return isOther ? before?.revision : undefined
    },
    templateOf: (workload) => templateOf((one) => isSame(one, workload)),
  }
}

/**
 * The pod of an entry, as far as it can be told by what has come in its place. Of the workload of that name now, whose template
 * goes back too: it may have been deleted and made again since.
 */
function goneOf(entry: LedgerEntry, workloads: readonly Workload[]): GonePod {
  const { uid, pod: name, address, node, owner } = entry
  const now = workloads.find(({ ref }) => isOwnedBy(entry, ref))
  return {
    uid,
    name,
    ...(address && { ip: address }),
    ...(node && { node }),
    ...(owner && { owner: { ...owner, uid: now?.uid ?? owner.uid } }),
  }
}

/**
 * Of each workload, that pods stay on what is taken back, since the run had nothing to do with them: made by a scale-up, say. Found
 * by reading: the template that they were made from went back, and they were told as those at the wanted images.
 */
export function stillOnRelease(
  undo: Undoing,
  workloads: readonly Workload[],
  pods: readonly PodView[],
): ReasonOf<'stays-on-release'>[] {
  return workloads.flatMap((workload) => {
    const own = pods.filter((pod) => !pod.deleting && !pod.finished && workload.owns(pod))
    const staying = own.filter((pod) => runsRelease(undo, pod) && undo.imagesOf(pod).length === 0)
    if (staying.length === 0) return []
    const template = undo.templateOf(workload)
    const name = displayName(workload.ref)
    const isBehind = isTemplateWritten(workload.kind) && staying.some((pod) => !asksFor(pod, template))
    const { namespace } = workload.ref
    return [
      {
        code: 'stays-on-release',
        workload: name,
        pods: staying.length,
        of: own.length,
        run: undo.run,
        ...(isBehind ? { upgrade: { command: 'upgrade', workloads: [name], namespace } as const } : {}),
      },
    ]
  })
}

/**
 * Of each workload, that pods go back which were brought to other images since. Found by a fresh user: a run that had failed at its first
 * pod was undone by its name when the next release was out, and nothing said that this went with it.
 */
export function changedSince(
  undo: Undoing,
  workloads: readonly Workload[],
  pods: readonly PodView[],
): ReasonOf<'released-since'>[] {
  return workloads.flatMap((workload) => {
    const own = pods.filter((pod) => !pod.deleting && !pod.finished && workload.owns(pod))
    const others = own.filter((pod) => !runsRelease(undo, pod) && !asksFor(pod, undo.imagesOf(pod)))
    if (others.length === 0) return []
    const name = displayName(workload.ref)
    return [{ code: 'released-since', workload: name, pods: others.length, of: own.length, run: undo.run }]
  })
}

/**
 * That the newest run has nothing left to take back, since an abort has seen to it. Found by trial: who took back what had gone
 * wrong at night was told that all was done, with the release before it in place. It is not taken back unasked: who undoes what
 * he has aborted, to be sure, means no other.
 */
export function takenBackAlready({ run, aborted }: Undoing, workloads: readonly Workload[]): ReasonOf<'nothing-to-take-back'>[] {
  if (!aborted) return []
  const { by, before } = aborted
  const names = workloads.map(({ ref }) => displayName(ref))
  const namespace = workloads[0]?.ref.namespace ?? ''
  const undo = { command: 'undo', workloads: names, namespace } as const
  return [{ code: 'nothing-to-take-back', run, by, ...(before ? { undo: { ...undo, run: before } } : {}) }]
}

/** What an undo asked for may have been different images for different pods. */
function runsRelease({ images }: Undoing, pod: PodView): boolean {
  const byContainer = [...Map.groupBy(images, ({ container }) => container).values()]
  return byContainer.length > 0 && byContainer.every((some) => some.some((image) => asksFor(pod, [image])))
}

/** It changed something, or was about to, and was no undo itself. */
function isUpgrade(ledger: Ledger): boolean {
  return ledger.header.undoes === undefined && hasChanged(ledger)
}

/** By name too: a workload that was made again has another uid. */
function isSame(recorded: Ledger['header']['workloads'][number], workload: Workload): boolean {
  return recorded.uid === workload.uid || isSameWorkload(recorded, workload.ref)
}

function missing(workloads: string[], run: string | undefined, ours: readonly Ledger[]): Reason {
  if (run === undefined) return { code: 'nothing-to-undo', workloads, recorded: ours.length > 0 }
  return { code: 'no-such-run', run, workloads, known: ours.map(({ header }) => header.run) }
}

/** Pods go back together with the workload that they are of, whose template goes back first. */
export function assertWholeWorkload(refs: readonly WorkloadId[], workloads: readonly Workload[]): void {
  for (const asked of refs) {
    if (!isPod(asked) || workloads.some(({ ref }) => isSameWorkload(ref, asked))) continue
    throw refusal({ code: 'undo-the-workload', pod: asked.name, workloads: workloads.map(({ ref }) => displayName(ref)) })
  }
}

function refusal(reason: Reason): RunError {
  return new RunError('preflight', reason)
}
