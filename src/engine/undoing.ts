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

/** A run to undo, with the former images of its pods and templates. */
export interface Undoing {
  run: string
  /** The images that the run asked for. */
  images: ContainerImage[]
  /** Present where the newest run was aborted, and the request named no run. `before` is the newest earlier run that was not aborted. */
  aborted?: { by: string; before?: string }
  /** The former images of the pod. Empty where the run did not change the pod, which then stays as it is. */
  imagesOf(pod: PodView): ContainerImage[]
  /** The former revision of a pod whose former images differ from its template. Such a pod does not count as updated. */
  labelOf(pod: PodView, template: readonly ContainerImage[]): string | undefined
  /** The former images of the template. Empty where the template stays as it is. */
  templateOf(workload: Workload): ContainerImage[]
}

export interface UndoRequest {
  /** The run to undo. Absent: the newest one. */
  run?: string
}

/**
 * Finds the run to undo in the records of a workload. Without a name, this is the newest run that is no undo itself, so that a repeated
 * command has nothing left to do.
 * @param pods the pods of the workloads, also those that the request does not include
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
  // A pod that was gone before the run has no former images, and its settlement changed none.
  if (isUpgrade(ledger) && [...entries.values()].some(({ before, state }) => before === undefined && state === 'open'))
    throw refusal({ code: 'no-images-before', run: ledger.header.run })

  const entryOf = (pod: PodView): LedgerEntry | undefined => {
    const own = entries.get(pod.uid)
    if (own) return own
    const before = [...entries.values()].filter((entry) => isHeir(goneOf(entry, workloads), pod))
    return before.find((entry) => entry.before) ?? before[0]
  }
  // The former template is that of all pods, also of those that the run was not about.
  const besideOf = (recorded: LedgerWorkload): Observation[] => {
    const workload = workloads.find((one) => isSame(recorded, one))
    if (workload === undefined || !isTemplateWritten(workload.kind)) return []
    return pods.filter(({ pod }) => !pod.deleting && workload.owns(pod) && entryOf(pod)?.before === undefined)
  }
  // The templates are computed once, since `imagesOf` is called often.
  const templates = ledger.header.workloads.map((recorded) => ({
    recorded,
    images: formerTemplate(ledger, recorded, imagesBeside(ledger, recorded, besideOf(recorded))),
  }))
  const templateOf = (isIt: (recorded: LedgerWorkload) => boolean): ContainerImage[] =>
    templates.find(({ recorded }) => isIt(recorded))?.images ?? []
  const imagesOf = (pod: PodView): ContainerImage[] => {
    const entry = entryOf(pod)
    if (!entry || entry.before) return entry?.before?.images ?? []
    // The pod replaced one that was gone before the run. It goes back with its template, if the template made it.
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
 * The pod of an entry, for finding its replacement. The owner is the present workload of that name, which may have been deleted and made
 * again, and whose template goes back too.
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

/** The workloads with pods that stay on the undone release, since the run did not change them, for example after a scale-up. */
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

/** The workloads with pods that an undo takes back from images of a later run. */
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
 * Tells that an abort has already taken the newest run back. The run before it is named in the advice, and not undone without a request.
 */
export function takenBackAlready({ run, aborted }: Undoing, workloads: readonly Workload[]): ReasonOf<'nothing-to-take-back'>[] {
  if (!aborted) return []
  const { by, before } = aborted
  const names = workloads.map(({ ref }) => displayName(ref))
  const namespace = workloads[0]?.ref.namespace ?? ''
  const undo = { command: 'undo', workloads: names, namespace } as const
  return [{ code: 'nothing-to-take-back', run, by, ...(before ? { undo: { ...undo, run: before } } : {}) }]
}

/** Reports whether the pod runs the images of the run. The run may have had different images for different pods, as in an undo. */
function runsRelease({ images }: Undoing, pod: PodView): boolean {
  const byContainer = [...Map.groupBy(images, ({ container }) => container).values()]
  return byContainer.length > 0 && byContainer.every((some) => some.some((image) => asksFor(pod, [image])))
}

/** Reports whether the run is an upgrade that changed something, or was about to. */
function isUpgrade(ledger: Ledger): boolean {
  return ledger.header.undoes === undefined && hasChanged(ledger)
}

/** Compares by name too: a workload that was made again has another uid. */
function isSame(recorded: Ledger['header']['workloads'][number], workload: Workload): boolean {
  return recorded.uid === workload.uid || isSameWorkload(recorded, workload.ref)
}

function missing(workloads: string[], run: string | undefined, ours: readonly Ledger[]): Reason {
  if (run === undefined) return { code: 'nothing-to-undo', workloads, recorded: ours.length > 0 }
  return { code: 'no-such-run', run, workloads, known: ours.map(({ header }) => header.run) }
}

/** Throws for a pod whose workload is not in the request. Pods go back together with their workload, whose template goes back first. */
export function assertWholeWorkload(refs: readonly WorkloadId[], workloads: readonly Workload[]): void {
  for (const asked of refs) {
    if (!isPod(asked) || workloads.some(({ ref }) => isSameWorkload(ref, asked))) continue
    throw refusal({ code: 'undo-the-workload', pod: asked.name, workloads: workloads.map(({ ref }) => displayName(ref)) })
  }
}

function refusal(reason: Reason): RunError {
  return new RunError('preflight', reason)
}
