import { ableMs, holdersAt } from '../leases.ts'
import type { Pod } from '../pods.ts'
import type { Process } from '../processes.ts'
import { isAbout, isProcess } from '../processes.ts'
import type { Target } from '../targets.ts'
import { isHeldOut, isTouched } from '../targets.ts'
import type { Report } from '../violation.ts'
import type { World } from '../world.ts'

/**
 * I2: judges the images of a pod that sluice has just changed.
 * @param patched the containers with a new image
 */
export function judgeImages(world: World, pod: Pod, patched: readonly string[], at: number, report: Report): void {
  const { journal } = pod
  // Without a generation, the record of the patch before may be equal, and is then not written again.
  const isAlike = journal?.step === 'patched' && pod.observedGeneration === 0
  const saysSo = journal?.step === 'patched' && journal.entry === pod.patch?.entry
  // Sluice cannot know of a change of the target while its write is on its way.
  const leftAt = saysSo ? journal.leftAt : at
  if (!saysSo && !isAlike) report('I2', `${pod.name} got other images in a write that does not say so in its journal`)
  judgeTemplate(world, pod, leftAt, report)
  if (mayBeInRotation(world, patched)) return
  for (const target of pod.address === undefined ? [] : world.targets.at(pod.address)) {
    const { state, key, entry } = target
    // A pod that does not answer is not harmed by a patch while it is in rotation by an operator, or by a reload of a target that sluice
    // does not drain.
    const isForgotten = target.by === 'reload' && target.claims.at(-1)?.untouched === true
    const isInVain = (target.by === 'operator' || isForgotten) && (!pod.ready || pod.readySince > leftAt)
    if (state!.routable && !isInVain && !isExcused(world, pod, target, leftAt))
      report('I2', `${pod.name} got other images while ${key} sent it requests`, entry)
    if (
      (isHeldOut(target) && !isLongHeldOut(world, target, leftAt)) ||
      leftAt - beganAt(target, pod) >= (world.scenario.proceedsAfterMs ?? Infinity)
    )
      continue
    if (isRepeated(target)) continue
    if (isSettling(world, target, leftAt))
      report('I2', `${pod.name} got other images while new requests of ${key} could still arrive`, entry)
    // Requests that are not counted get the settle time only.
    if (target.level === 'G0' || world.scenario.uncounted?.includes(target.balancer)) continue
    if (isTakenUnseen(world, target, leftAt)) continue
    if (!state!.routable && state!.emptyAt !== null && state!.emptyAt > at)
      report('I2', `${pod.name} got other images while requests of ${key} were under way on it`, entry)
  }
}

/** Reports whether the operator has allowed each changed container to restart in rotation. */
export function mayBeInRotation({ scenario }: Pick<World, 'scenario'>, patched: readonly string[]): boolean {
  return patched.every((container) => scenario.undrained?.includes(container))
}

/** I2: the template has the wanted images before a pod gets them, so that a replacement comes up on them too. */
function judgeTemplate(
  { processes, templates }: World,
  { name, owner, images, patchedBy }: Pod,
  leftAt: number,
  report: Report,
): void {
  const template = templates.get(owner ?? '')?.findLast(({ at }) => at <= leftAt)
  for (const [container, wanted] of Object.entries(processes.get(patchedBy ?? '')?.wanted ?? {}))
    if (images[container] === wanted && template && template.images[container] !== wanted)
      report('I2', `${name} got ${wanted} while the template of ${owner} had ${template.images[container]}`)
}

/** Returns the time when the drain intent was sent. */
function beganAt({ claims }: Target, { uid }: Pod): number {
  const attempt = claims.findLast((claim) => claim.uid === uid)?.attempt
  return claims.find((claim) => claim.attempt === attempt)?.leftAt ?? Infinity
}

/** Reports whether an operator has had the target out for long enough to be seen. Requests under way there end by themselves. */
function isLongHeldOut({ scenario }: World, { by, balancer, changedAt }: Target, at: number): boolean {
  return (by === 'operator' || by === 'setup') && at - changedAt > scenario.lagMs + (scenario.trailMs?.[balancer] ?? 0)
}

/** Reports whether the drain took effect only at its second delivery. The balancer had answered the first with a false success. */
function isRepeated({ leave, refusedAt }: Target): boolean {
  return leave !== undefined && leave.sentAt === refusedAt
}

/**
 * Reports whether the target was put back, and taken out again by an earlier call before that could be seen. Requests may still arrive
 * then, and an older read-back may miss requests.
 */
function isTakenUnseen({ scenario }: World, { balancer, leave, returnedAt }: Target, at: number): boolean {
  if (leave === undefined || leave.sentAt >= returnedAt || leave.at - returnedAt > scenario.lagMs) return false
  return at - leave.at < (scenario.trailMs?.[balancer] ?? 0) + scenario.staleMs
}

/**
 * Reports whether the drain has not taken full effect yet. Sluice cannot know that where it sent the images before the target was out, or
 * where an earlier call took the target out again after it was put back.
 */
function isSettling({ scenario }: World, { balancer, state, leave, returnedAt }: Target, at: number): boolean {
  if (state?.routable !== false || leave === undefined || leave.at > at || leave.sentAt < returnedAt) return false
  return at - leave.at < (scenario.trailMs?.[balancer] ?? 0)
}

/**
 * Reports whether another actor, or a call that came too late, has put the target back unseen. Sluice sees that after a while, and never on
 * a target that cannot be read.
 * @param looksFrom the time from which a process can look for it
 */
export function isExcused(
  world: World,
  pod: Pod,
  target: Target,
  at: number,
  looksFrom: (process: Process) => number = ({ startedAt }) => startedAt,
): boolean {
  const { scenario, processes } = world
  if (target.late !== undefined) return true
  if (!isTouched(target)) return false
  // A change during the silence of a load balancer is seen only after the silence.
  const changedAt = ({ name }: Process): number =>
    Math.max(target.changedAt, Math.min(at, world.silentUntil(target.balancer, name)))
  // No owner was there long enough to see it: the present one has taken over or continues since a moment ago. A process about other pods
  // leaves this pod alone.
  const owners = holdersAt(world, at - scenario.lagMs)
  const hasSeen = (process: Process): boolean =>
    process.isRunning &&
    isAbout(process, pod) &&
    owners.some((owner) => isProcess(owner, process.name)) &&
    ableMs(world, process, Math.max(changedAt(process), looksFrom(process)), at) > scenario.lagMs
  return target.level === 'G0' || ![...processes.values()].some((process) => hasSeen(process))
}
