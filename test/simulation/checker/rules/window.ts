import type { HistoryEntry } from '../history.ts'
import type { Pod } from '../pods.ts'
import type { Process } from '../processes.ts'
import { asleepSince, isAbout } from '../processes.ts'
import type { Target } from '../targets.ts'
import { isHeldOut, isTakenOut } from '../targets.ts'
import type { Report } from '../violation.ts'
import type { World } from '../world.ts'

type Effect = Extract<HistoryEntry, { type: 'effect' }>

/** I7: a target has just been taken out. */
export function judgeWindow(world: World, report: Report): void {
  const { maxUnavailable } = world.scenario
  const out: Target[] = []
  const pods = new Set<Pod>()
  for (const target of world.targets.all.values()) {
    const pod = isTakenOut(target) && !target.isLeftOut ? world.pods.at(target.state!.address) : undefined
    if (pod === undefined || target.late !== undefined || isScaledAway(world, pod)) continue
    pods.add(pod)
    out.push(target)
  }
  if (pods.size > maxUnavailable)
    report(
      'I7',
      `${[...pods].map(({ name }) => name).join(', ')} are out, of at most ${maxUnavailable}`,
      ...out.map(({ entry }) => entry),
    )
}

/**
 * I7: the drain intent of a new attempt has just been stored. It was decided on when it left: it may have been on its way for
 * long.
 */
export function judgeStart(world: World, pod: Pod, leftAt: number, by: string, report: Report): void {
  if (isGivenUp(world, pod)) return
  // Out already, by an earlier owner: it takes no new place.
  if (pod.address !== undefined && world.targets.at(pod.address).some((target) => isTakenOut(target))) return
  // What a process has sent may arrive long after it was stopped, or has ended.
  judgePlace(world, pod, by, Math.min(leftAt, asleepSince(world.processes.get(by)!) ?? leftAt), report)
}

/**
 * I7: an effect has just arrived, and is not taken into the world yet. Who drains a pod for an earlier owner's intent has to have
 * a place for it, which there is not where others were down when that was taken over, and are still.
 */
export function judgeAdopted(world: World, { by, effect, before }: Effect, report: Report): void {
  if (effect !== 'drain' || !before.routable) return
  const pod = world.pods.at(before.address)
  const { journal, attempts } = pod ?? {}
  if (journal?.step !== 'drain' || journal.by !== by || attempts!.get(journal.attempt) === by) return
  // Half of it is out: whether by that earlier owner or by somebody else nobody can tell.
  if (world.targets.at(before.address).some((target) => target.state?.routable === false && isTouchedFor(pod!, target))) return
  // It was out when that was taken over, or is read so by who sees what was, and needs no new place.
  const { staleMs } = world.scenario
  const isBack = ({ by: last, changedAt }: Target): boolean => last !== 'sluice' && changedAt + staleMs > journal.at
  if (world.targets.at(before.address).some(isBack)) return
  judgePlace(world, pod!, by, journal.leftAt, report)
}

/** Its workload has fewer pods by now: nobody counts on it (seed 93041427), nor on what is still drained for it (seed 94002170). */
function isScaledAway({ pods }: World, pod: Pod): boolean {
  return pods.scaledAt(pod.owner) > -Infinity && pods.isSurplus(pod)
}

function isTouchedFor({ uid }: Pod, { claims }: Target): boolean {
  return claims.findLast((claim) => claim.uid === uid)?.untouched === false
}

function judgePlace(world: World, pod: Pod, by: string, decidedAt: number, report: Report): void {
  const { maxUnavailable } = world.scenario
  const process = world.processes.get(by)!
  const isTaken = isLeftAlone(world, pod) ? isDown : isUnavailable
  const others = [...world.pods.alive(), ...world.pods.missing()].filter(
    (other) => other.uid !== pod.uid && other.namespace === world.scenario.namespace && isTaken(world, other, decidedAt, process),
  )
  if (others.length >= maxUnavailable)
    report('I7', `${pod.name} is to be drained while ${others.map(({ name }) => name).join(', ')} cannot take requests`)
}

/**
 * Its record says that an operator has all of it out, or that it is not to be drained: nothing is taken out of rotation for it, and what
 * an operator has out does not count.
 */
function isLeftAlone({ targets }: World, { uid, address, journal }: Pod): boolean {
  if (journal?.isUndrained) return true
  const own = address === undefined ? [] : targets.at(address)
  return own.length > 0 && own.every(({ claims }) => claims.findLast((claim) => claim.uid === uid)?.untouched === true)
}

function isUnavailable(world: World, pod: Pod, at: number, process: Process): boolean {
  return isDown(world, pod, at) || isHeldByOperator(world, pod, at, process)
}

/**
 * In the world as a process can have observed it; what sluice itself does it must know at once. One that is only meant to be
 * drained is in rotation: whether it loses its place to another before it is, the drains themselves tell.
 */
function isDown(world: World, pod: Pod, at: number): boolean {
  const { targets, scenario } = world
  const { address, awaySince, isGone, journal } = pod
  // Another counts in its place, or none is to come, but for what is still drained for it.
  if (isScaledAway(world, pod)) return false
  if (!isOver(world, pod, at) && awaySince !== undefined && at - awaySince > scenario.lagMs) return true
  if (isGone) return false
  // One that is going still shows the address that another has by now, and is drained at.
  const own = address === undefined || world.pods.at(address) !== pod ? [] : targets.at(address)
  if (own.some((target) => isTakenOut(target) && !target.isLeftOut && target.late === undefined && target.changedAt <= at))
    return true
  return !isOver(world, pod, at) && journal?.step === 'patched' && journal.at <= at
}

/** What an operator has out is seen when the run is planned, of its own pods that are where they are now by then. */
function isHeldByOperator(world: World, pod: Pod, at: number, process: Process): boolean {
  const { targets, scenario } = world
  const { address, arrived, isGone } = pod
  const { startedAt: plannedAt } = process
  if (isScaledAway(world, pod) || isGone || isOver(world, pod, at)) return false
  if (address === undefined || world.pods.at(address) !== pod) return false
  if (arrived.at > plannedAt || !isAbout(process, pod)) return false
  return targets
    .at(address)
    .some((target) => isHeldOut(target) && target.level !== 'G0' && target.changedAt + scenario.staleMs < plannedAt)
}

/** The run may not have seen yet that the pod is missing again. */
function isOver({ pods, scenario }: World, pod: Pod, at: number): boolean {
  const { isDeleting, isReplaced, missedAgainAt } = pod
  return (isDeleting && (isReplaced || at - missedAgainAt <= scenario.lagMs)) || pods.isSurplus(pod)
}

/** Nothing is drained for an intent that arrives when nobody waits for it any more: its writer goes on with another record. */
function isGivenUp({ scenario }: World, { journal }: Pod): boolean {
  return journal !== undefined && journal.at - journal.leftAt > scenario.callLifeMs
}
