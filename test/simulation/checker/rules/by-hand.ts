import type { HistoryEntry } from '../history.ts'
import type { Pod } from '../pods.ts'
import type { Process } from '../processes.ts'
import { awakeMs } from '../processes.ts'
import type { Target } from '../targets.ts'
import type { Report } from '../violation.ts'
import type { World } from '../world.ts'

/*
 * A patch by hand belongs to its operator, and so does the restart that follows. The rules for sluice: it puts no pod back on a container
 * that is about to be killed for such a patch, and it does not overwrite such a patch over its own.
 */

/** I2: sluice has stored images over images that were patched in by hand since this process had patched the pod. */
export function judgeOverwritten({ processes }: World, { name, images }: Pod, by: string, report: Report): void {
  // A pod that fails goes back to its images from before, regardless of who has caused the failure.
  for (const [container, wanted] of Object.entries(processes.get(by)?.wanted ?? {}))
    if (images[container] === wanted)
      report('I2', `${name} got ${wanted} once more over what somebody has patched in since ${by} had patched it`)
}

/**
 * I3: judges the restore intent of a pod that was patched by hand since sluice patched it. The images in the spec and the container in the
 * API guard the intent, so these two are always current.
 */
export function judgeMeddledRestore(pod: Pod, report: Report): void {
  for (const name of pod.patch?.containers ?? []) {
    const shown = pod.imagesOf.get(pod.shown.get(name) ?? '')
    if (shown !== pod.images[name])
      report(
        'I3',
        `${pod.name} is to be put back on ${shown ?? 'nothing'}, and ${pod.images[name]} is patched in again`,
        pod.meddled!.entry,
      )
  }
}

export function isMeddledSince({ meddled }: Pod, entry: number): boolean {
  return meddled !== undefined && meddled.entry > entry
}

/**
 * Judges a container that is ended because the pod was patched by hand, or because that patch was taken back. Sluice must not have put the
 * pod back on that container while it knew of the patch.
 */
export function judgeDoomed(world: World, pod: Pod, name: string, report: Report): void {
  const { meddled, images, containers, generation, observedGeneration } = pod
  const container = containers.get(name)!
  const isHis = container.image !== images[name] || observedGeneration < generation
  if (meddled === undefined || meddled.entry < container.startedAt || !isHis || pod.isDeleting) return
  if (world.pods.at(container.address) !== pod) return
  for (const target of world.targets.at(container.address)) {
    const { state, by, late, entry } = target
    if (state!.routable && by === 'sluice' && late === undefined && entry > meddled.entry && isKnown(world, pod, target))
      report(
        'exposure',
        `${target.key} was put back, and its container ${name} is ended for what somebody had patched into ${pod.name} before that`,
        meddled.entry,
        entry,
      )
  }
}

/** Reports whether the sender of the restore had seen the patch by hand. */
function isKnown(world: World, { uid, meddled }: Pod, { claims, sender, leftAt }: Target): boolean {
  const process = world.processes.get(sender ?? '')
  const intent = claims.findLast((claim) => claim.uid === uid && claim.step === 'restore' && claim.at <= leftAt)
  // A patch by hand while the pod took requests ends a container in rotation in any case.
  const first = claims.find(({ attempt }) => attempt === intent?.attempt)
  if (process === undefined || intent === undefined || first!.entry > meddled!.entry) return false
  return hasSeen(world, process, { since: meddled!.at, intentAt: intent.at, at: leftAt })
}

/** Reports whether a process has seen a change, by the answer to its intent or by its watch. */
export function hasSeen(
  world: World,
  process: Process,
  { since, intentAt, at }: { since: number; intentAt: number; at: number },
): boolean {
  return since < intentAt || awakeMs(process, since, at) > world.scenario.watchMs
}

/** Reports whether the pod of a restore that has just arrived is down by a patch by hand, and whether the sender knew that. */
export function isKnownDown(
  world: World,
  { meddled, journal }: Pod,
  { by, leftAt }: Extract<HistoryEntry, { type: 'effect' }>,
): boolean {
  const process = world.processes.get(by)
  if (process === undefined || meddled === undefined) return false
  const intentAt = journal?.step === 'restore' ? journal.at : -Infinity
  return hasSeen(world, process, { since: meddled.at, intentAt, at: leftAt })
}
