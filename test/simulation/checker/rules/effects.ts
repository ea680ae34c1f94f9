import type { HistoryEntry } from '../history.ts'
import { holdersAt } from '../leases.ts'
import { ledgerOf } from '../ledgers.ts'
import type { Pod } from '../pods.ts'
import { leaseOf } from '../pods.ts'
import { isProcess } from '../processes.ts'
import type { Claim, Progress, Target } from '../targets.ts'
import { allows, changes, claimAt, isHeldOut, isTouchedSince } from '../targets.ts'
import type { Report } from '../violation.ts'
import type { World } from '../world.ts'

type Effect = Extract<HistoryEntry, { type: 'effect' }>
type Stored = Extract<HistoryEntry, { type: 'stored' }>

/**
 * Judges I1 and I5 before the effect is taken into the world. Effects beyond the guarantee of the level are not judged. They are noted at
 * the target (`late`): the end of the run still has to be right, where the engine could see them.
 */
export function judgeEffect(world: World, entry: Effect, report: Report): void {
  const target = world.targets.of(entry.balancer, entry.target)
  const claim = claimAt(target, entry.leftAt, entry.effect)
  judgeIntent(world, entry, target, claim, report)
  if (claim === undefined) return
  const progress = progressOf(world, entry, target, claim)
  const isBeyond = isBeyondPromise(world, entry, target)
  if (isBeyond) {
    if (changes(entry.before, entry.after)) target.late = isSeen(world, entry, target) ? 'mended' : 'unseen'
  } else {
    judgeOrder(world, entry, target, claim, progress, report)
    // This effect undoes an effect that came too late.
    if (changes(entry.before, entry.after)) target.late = undefined
  }
  note(entry, target, progress)
  // The call that this effect overtook is still on its way.
  if (isBeyond) progress.isDisturbed = true
  // This effect has undone the effect of another attempt, which has to act again.
  if (isBeyond && changes(entry.before, entry.after)) for (const one of target.progress.values()) one.isDisturbed = true
}

/** I5: the sender has stored its intent before, and holds the Lease. */
function judgeIntent(world: World, entry: Effect, target: Target, claim: Claim | undefined, report: Report): void {
  const { by, effect, leftAt } = entry
  const wasTampered = claim !== undefined && (world.pods.byUid.get(claim.uid)?.tampered ?? 0) > claim.entry
  if (!(claim && allows(claim, effect)) && !wasTampered)
    report(
      'I5',
      `a ${effect} of ${target.key} left with no ${effect} intent stored (${claim?.step ?? 'nothing'} was)`,
      claim?.entry,
    )
  if (claim?.untouched) report('I1', `${target.key} was out by an operator, and got a ${effect}`, claim.entry)
  const pod = claim && world.pods.byUid.get(claim.uid)
  const holders = holdersAt(world, leftAt, pod && leaseOf(pod))
  if (!holders.some((holder) => isProcess(holder, by)))
    report('I5', `a ${effect} of ${target.key} left ${by}, which did not hold the Lease (${holders.join(', ') || 'nobody'} did)`)
}

/** I5: judges the journal of this pod, which was just stored. Its writer must hold the Lease. */
export function judgeOwner(world: World, pod: Pod, { by, step, leftAt }: NonNullable<Pod['journal']>, report: Report): void {
  const holders = holdersAt(world, leftAt, leaseOf(pod))
  if (holders.some((holder) => isProcess(holder, by))) return
  const who = holders.join(', ') || 'nobody'
  report('I5', `the journal of ${pod.name} (${step}) left ${by}, which did not hold the Lease (${who} did)`)
}

/**
 * I5: judges the drain intent of a new attempt, which was just stored. A process that has renewed its Lease with an order on it knows of
 * the order.
 */
export function judgeOrdered(
  { leases }: World,
  pod: Pod,
  { run, by, leftAt }: NonNullable<Pod['journal']>,
  report: Report,
): void {
  const known = leases.get(leaseOf(pod) ?? '')?.findLast(({ at }) => at <= leftAt)
  if (known?.by === by && known.ordered.includes(run))
    report('I5', `${pod.name} is to be drained by ${by}, which knew that ${run} was to be paused or aborted`, known.entry)
}

/** I5: judges a record of a run that was just stored or removed. The writer of a pod's entry must hold the Lease for it. */
export function judgeLedger(world: World, { by, at, leftAt = at, before, after }: Stored, report: Report): void {
  const [was, is] = [ledgerOf(before), ledgerOf(after)]
  for (const key of Object.keys({ ...was, ...is })) {
    if (was[key] === is[key]) continue
    const pod = world.pods.byUid.get(key)
    const holders = holdersAt(world, leftAt, pod && leaseOf(pod))
    if (holders.some((holder) => isProcess(holder, by))) continue
    const who = holders.join(', ') || 'nobody'
    report('I5', `what is on record of ${pod?.name ?? 'a run'} left ${by}, which did not hold the Lease (${who} did)`)
  }
}

/** I1: in each attempt, the drain and then the restore happen once each. */
function judgeOrder(world: World, entry: Effect, target: Target, claim: Claim, progress: Progress, report: Report): void {
  const { effect } = entry
  if (!counts(entry, target) || progress.isDisturbed) return
  const isNext = effect === 'drain' ? progress.done === 0 : progress.done === 1
  if (!isNext) {
    const said = ['nothing before', 'it was drained', 'it was drained and restored']
    report(
      'I1',
      `a ${effect} of ${target.key} came out of order: in this attempt ${said[progress.done]}`,
      claim.entry,
      target.entry,
    )
  }
  const first = target.claims.find(({ attempt }) => attempt === claim.attempt)!
  if (effect === 'drain' && target.level !== 'G0' && isHeldOut(target) && first.at - target.changedAt > world.scenario.lagMs)
    report('I1', `${target.key} was out by an operator before the attempt began, and was changed`, target.entry)
}

/** Reports whether a call counts: it changes the target. Where the target cannot be read, each accepted call counts. */
function counts({ accepted, before, after }: Effect, { level }: Target): boolean {
  return level === 'G0' ? accepted : changes(before, after)
}

/**
 * Reports whether a call is beyond the guarantee of the level: it is too late, or a second delivery that the balancer cannot recognize. A
 * G2 remembers the operations that it has done, not the ones that it has refused. A G3 refuses both itself.
 */
function isBeyondPromise({ scenario }: World, { at, leftAt, operation, effect }: Effect, target: Target): boolean {
  if (target.level === 'G3') return false
  if (at - leftAt > scenario.callLifeMs) return true
  const doneAt = target.level === 'G2' ? target.done.get(`${effect} ${operation}`) : undefined
  if (doneAt === undefined && target.arrived.has(`${effect} ${operation} ${leftAt}`)) return true
  return doneAt !== undefined && (doneAt === -Infinity || at - doneAt > scenario.memoryMs)
}

/**
 * Reports whether a run sees a late change: a run in doubt looks for up to twice the life of a call. It does not see changes after that or
 * after its end, or a second delivery of an answered call.
 */
function isSeen(world: World, { at, leftAt }: Effect, { level }: Target): boolean {
  const age = at - leftAt
  const isLate = age > world.scenario.callLifeMs && age <= 2 * world.scenario.callLifeMs
  return level !== 'G0' && isLate && [...world.processes.values()].some(({ isRunning }) => isRunning)
}

function note(entry: Effect, target: Target, progress: Progress): void {
  const { at, leftAt, effect, operation, accepted, before, after } = entry
  target.arrived.add(`${effect} ${operation} ${leftAt}`)
  const key = `${effect} ${operation}`
  if (accepted && !target.done.has(key)) target.done.set(key, at)
  if (!counts(entry, target)) return
  // The restore only undid the weight of an operator: the drain of the attempt may still arrive.
  const isWeight = target.level !== 'G0' && effect === 'restore' && progress.done === 0 && before.admin === after.admin
  if (!isWeight) progress.done = effect === 'drain' ? 1 : 2
  progress.isDisturbed = false
}

function isAnothers({ claims }: Target, { attempt, uid }: Claim): boolean {
  return claims.findLast((claim) => claim.attempt !== attempt)?.uid !== uid
}

function progressOf({ scenario }: World, { effect }: Effect, target: Target, { attempt, isTampered }: Claim): Progress {
  let found = target.progress.get(attempt)
  if (found === undefined) {
    const first = target.claims.find((claim) => claim.attempt === attempt)!
    // The reads that the claim rests on may be older than the foreign change, since the write may have been long on its way.
    const seenAt = first.leftAt - scenario.lagMs
    const isTouched = isTouchedSince(target, first.entry, seenAt)
    // A call beyond the guarantee has just changed the target for another attempt, so this attempt may find nothing to do.
    const isOvertaken = target.late !== undefined && target.changedAt >= seenAt
    // The target is out already for the former pod at this address, whose status does not show that yet.
    const isShared = target.by === 'sluice' && target.isDrained && target.changedAt >= seenAt && isAnothers(target, first)
    found = { done: 0, isDisturbed: isTampered || isTouched || isOvertaken || isShared }
    target.progress.set(attempt, found)
  }
  // An operator has said that the target is out, although its drain may not have arrived. It may be in again since.
  const isSaid = target.claims.some((claim) => claim.attempt === attempt && claim.isSaid)
  if (found.done === 0 && isSaid && !(effect === 'drain' && target.state?.routable)) found.done = 1
  return found
}
