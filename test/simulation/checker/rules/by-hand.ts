import type { HistoryEntry } from '../history.ts'
import type { Pod } from '../pods.ts'
import type { Process } from '../processes.ts'
import { awakeMs } from '../processes.ts'
import type { Target } from '../targets.ts'
import type { Report } from '../violation.ts'
import type { World } from '../world.ts'

/*
 * What a person patches into a pod past sluice is his own, and so is the restart that follows. Sluice is held to this: it puts no
 * pod back on a container that is about to be killed for that, and leaves what he has patched in over its own patch.
 */

/** I2: sluice has stored images over those that somebody has patched in since this process had patched the pod. */
export function judgeOverwritten({ processes }: World, { name, images }: Pod, by: string, report: Report): void {
  // What fails goes back to what it was on before, whoever has made it fail.
  for (const [container, wanted] of Object.entries(processes.get(by)?.wanted ?? {}))
    if (images[container] === wanted)
      report('I2', `${name} got ${wanted} once more over what somebody has patched in since ${by} had patched it`)
}

/**
 * I3: the restore intent of a pod that somebody has patched since sluice did. It is guarded by the images in its spec, and by the
 * container that the API shows: whatever else may be old, these two it was decided on.
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
 * A container is being ended, since somebody has patched the pod, or has taken that back: had sluice put it back on that, though
 * it knew of it?
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

/** Who sent the call that put it back had seen what somebody had patched. */
function isKnown(world: World, { uid, meddled }: Pod, { claims, sender, leftAt }: Target): boolean {
  const process = world.processes.get(sender ?? '')
  const intent = claims.findLast((claim) => claim.uid === uid && claim.step === 'restore' && claim.at <= leftAt)
  // Patched in where it took requests, it ends a container that does.
  const first = claims.find(({ attempt }) => attempt === intent?.attempt)
  if (process === undefined || intent === undefined || first!.entry > meddled!.entry) return false
  return hasSeen(world, process, { since: meddled!.at, intentAt: intent.at, at: leftAt })
}

/** By the answer to its intent, or by its watch. */
export function hasSeen(
  world: World,
  process: Process,
  { since, intentAt, at }: { since: number; intentAt: number; at: number },
): boolean {
  return since < intentAt || awakeMs(process, since, at) > world.scenario.watchMs
}

/** A restore has just arrived: does the pod not answer, as somebody has patched it, and was that known? */
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
