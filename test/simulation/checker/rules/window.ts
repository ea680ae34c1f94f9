import type { HistoryEntry } from '../history.ts'
import type { Pod } from '../pods.ts'
import type { Process } from '../processes.ts'
import { asleepSince, isAbout } from '../processes.ts'
import type { Target } from '../targets.ts'
import { isHeldOut, isTakenOut } from '../targets.ts'
import type { Report } from '../violation.ts'
import type { World } from '../world.ts'

type Effect = Extract<HistoryEntry, { type: 'effect' }>

/** I7: judges a target that was just taken out. */
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

/** I7: judges the drain intent of a new attempt, which was just stored. It was decided when it left, and may have been long on its way. */
export function judgeStart(world: World, pod: Pod, leftAt: number, by: string, report: Report): void {
  if (isGivenUp(world, pod)) return
  // The pod is out already by an earlier owner, so it takes no new place.
  if (pod.address !== undefined && world.targets.at(pod.address).some((target) => isTakenOut(target))) return
  // The write of a process may arrive long after the process was stopped or has ended.
  judgePlace(world, pod, by, Math.min(leftAt, asleepSince(world.processes.get(by)!) ?? leftAt), report)
}

/**
 * I7: judges an effect before it is taken into the world. A process that drains a pod for an earlier owner's intent needs a place for it.
 * There is none where too many other pods were down at the takeover and still are.
 */
export function judgeAdopted(world: World, { by, effect, before }: Effect, report: Report): void {
  if (effect !== 'drain' || !before.routable) return
  const pod = world.pods.at(before.address)
  const { journal, attempts } = pod ?? {}
  if (journal?.step !== 'drain' || journal.by !== by || attempts!.get(journal.attempt) === by) return
  // The pod is half out, by the earlier owner or by another actor: the two cannot be distinguished.
  if (world.targets.at(before.address).some((target) => target.state?.routable === false && isTouchedFor(pod!, target))) return
  // The pod was out at the takeover, or a stale read shows it so: it needs no new place.
  const { staleMs } = world.scenario
  const isBack = ({ by: last, changedAt }: Target): boolean => last !== 'sluice' && changedAt + staleMs > journal.at
  if (world.targets.at(before.address).some(isBack)) return
  judgePlace(world, pod!, by, journal.leftAt, report)
}

/** Reports whether the workload no longer needs the pod. Then neither the pod nor its drained targets count. */
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
 * Reports whether an operator has all targets of the pod out, or the pod is not to be drained. Such a pod is not taken out of rotation, and
 * targets that an operator has out do not count for it.
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
 * Reports whether a pod is down as a process can have observed it. Effects of sluice itself count at once. A pod with a drain intent only
 * is still in rotation; the rules about drains judge a lost place.
 */
function isDown(world: World, pod: Pod, at: number): boolean {
  const { targets, scenario } = world
  const { address, awaySince, isGone, journal } = pod
  // Another pod counts in its place, or none is to come. Only its drained targets would count.
  if (isScaledAway(world, pod)) return false
  if (!isOver(world, pod, at) && awaySince !== undefined && at - awaySince > scenario.lagMs) return true
  if (isGone) return false
  // A pod that is going still shows its address, which another pod may have by now and be drained at.
  const own = address === undefined || world.pods.at(address) !== pod ? [] : targets.at(address)
  if (own.some((target) => isTakenOut(target) && !target.isLeftOut && target.late === undefined && target.changedAt <= at))
    return true
  return !isOver(world, pod, at) && journal?.step === 'patched' && journal.at <= at
}

/**
 * Reports whether an operator has a target of the pod out. The run sees that when it is planned, for its own pods at their present address.
 */
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

/** Reports whether the place of the pod is filled, as far as the run can have seen. */
function isOver({ pods, scenario }: World, pod: Pod, at: number): boolean {
  const { isDeleting, isReplaced, missedAgainAt } = pod
  return (isDeleting && (isReplaced || at - missedAgainAt <= scenario.lagMs)) || pods.isSurplus(pod)
}

/** Reports whether an intent arrived after its writer gave it up. No target is drained for it: the writer continues with another record. */
function isGivenUp({ scenario }: World, { journal }: Pod): boolean {
  return journal !== undefined && journal.at - journal.leftAt > scenario.callLifeMs
}
