import { ableMs, holdersAt } from '../leases.ts'
import type { Pod } from '../pods.ts'
import type { Process } from '../processes.ts'
import { isAbout, isProcess } from '../processes.ts'
import type { Target } from '../targets.ts'
import { isHeldOut, isTouched } from '../targets.ts'
import type { Report } from '../violation.ts'
import type { World } from '../world.ts'

/**
 * I2: sluice has just stored other images for this pod.
 * @param patched the containers that got them
 */
export function judgeImages(world: World, pod: Pod, patched: readonly string[], at: number, report: Report): void {
  const { journal } = pod
  // Where no generation is told, the record of the patch before may read the same, and is not written anew.
  const isAlike = journal?.step === 'patched' && pod.observedGeneration === 0
  const saysSo = journal?.step === 'patched' && journal.entry === pod.patch?.entry
  // What somebody does to a target while the write is on its way, however long that takes, sluice cannot know.
  const leftAt = saysSo ? journal.leftAt : at
  if (!saysSo && !isAlike) report('I2', `${pod.name} got other images in a write that does not say so in its journal`)
  judgeTemplate(world, pod, leftAt, report)
  if (mayBeInRotation(world, patched)) return
  for (const target of pod.address === undefined ? [] : world.targets.at(pod.address)) {
    const { state, key, entry } = target
    // Whoever puts one back that answers nothing cannot be harmed by what mends it; nor can a reload, of what is not sluice's to
    // drain (seed 4004735).
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
    // Requests that nobody counts are given the settle time, and no more.
    if (target.level === 'G0' || world.scenario.uncounted?.includes(target.balancer)) continue
    if (isTakenUnseen(world, target, leftAt)) continue
    if (!state!.routable && state!.emptyAt !== null && state!.emptyAt > at)
      report('I2', `${pod.name} got other images while requests of ${key} were under way on it`, entry)
  }
}

/** Somebody has named each container that was changed. */
export function mayBeInRotation({ scenario }: Pick<World, 'scenario'>, patched: readonly string[]): boolean {
  return patched.every((container) => scenario.undrained?.includes(container))
}

/** What comes anew in place of a pod that has the wanted images comes up on them too: its template had them first. */
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

/** When the drain intent was sent. */
function beganAt({ claims }: Target, { uid }: Pod): number {
  const attempt = claims.findLast((claim) => claim.uid === uid)?.attempt
  return claims.find((claim) => claim.attempt === attempt)?.leftAt ?? Infinity
}

/** An operator has had it out for as long as it takes to be seen: what is under way there ends by itself. */
function isLongHeldOut({ scenario }: World, { by, balancer, changedAt }: Target, at: number): boolean {
  return (by === 'operator' || by === 'setup') && at - changedAt > scenario.lagMs + (scenario.trailMs?.[balancer] ?? 0)
}

/**
 * What has taken it out was delivered twice: it had been answered by then, and the load balancer had said that it was done, which it
 * was not (seed 9758).
 */
function isRepeated({ leave, refusedAt }: Target): boolean {
  return leave !== undefined && leave.sentAt === refusedAt
}

/**
 * Somebody put it back, and a call that had been sent before that took it out once more before that could be seen: which of its
 * requests still arrive, nobody knows (harsh seed 9424087), nor which have come that a read-back from before shows none of (seed
 * 60002460).
 */
function isTakenUnseen({ scenario }: World, { balancer, leave, returnedAt }: Target, at: number): boolean {
  if (leave === undefined || leave.sentAt >= returnedAt || leave.at - returnedAt > scenario.lagMs) return false
  return at - leave.at < (scenario.trailMs?.[balancer] ?? 0) + scenario.staleMs
}

/**
 * Its drain has not taken effect for good yet. Not known to who sent the images before it was out, nor where a call that had
 * been sent before somebody put it back took it out once more.
 */
function isSettling({ scenario }: World, { balancer, state, leave, returnedAt }: Target, at: number): boolean {
  if (state?.routable !== false || leave === undefined || leave.at > at || leave.sentAt < returnedAt) return false
  return at - leave.at < (scenario.trailMs?.[balancer] ?? 0)
}

/**
 * Somebody else, or a call that came too late, has put it back: sluice sees that a while later, and what cannot be read
 * never.
 * @param looksFrom since when a process can look for it
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
  // Where it does not answer, it changes as soon as it does again.
  const changedAt = ({ name }: Process): number =>
    Math.max(target.changedAt, Math.min(at, world.silentUntil(target.balancer, name)))
  // Nobody was there to see it, or nobody for long enough: whoever acts now took over, or goes on, a moment ago. Who is about other
  // pods leaves this one as it was left (seed 22545449).
  const owners = holdersAt(world, at - scenario.lagMs)
  const hasSeen = (process: Process): boolean =>
    process.isRunning &&
    isAbout(process, pod) &&
    owners.some((owner) => isProcess(owner, process.name)) &&
    ableMs(world, process, Math.max(changedAt(process), looksFrom(process)), at) > scenario.lagMs
  return target.level === 'G0' || ![...processes.values()].some((process) => hasSeen(process))
}
