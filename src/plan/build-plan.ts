import { asksFor, changesFor } from '../pods/baseline.ts'
import type { ContainerImage, Journal, JournalStep, JournalTarget, PodView, ReadJournal } from '../pods/glossary.ts'
import type { Plan, PlanGuarantee, PlannedTarget, PlanTemplate, PodPlan, Refusal, WorkloadRef } from './plan.ts'
import type { OperatorOut, WindowPod } from './window.ts'
import { howMuchOut, stuckPods, windowSize } from './window.ts'
import { isOpen, openJournal } from '../pods/open-journal.ts'
import { standing } from '../pods/readiness.ts'
import type { Reason, ReasonOf } from '../reasons/reason.ts'

/** Everything that a plan is made from: the request, and the world as observed. */
export interface PlanInput {
  namespace: string
  workloads: WorkloadRef[]
  maxUnavailable: { count: number } | { percent: number }
  pods: PlanPod[]
  byUpgradeOrder(a: PodView, b: PodView): number
  /** An earlier run has left something out of rotation for pods that are gone. */
  leftOut: readonly JournalTarget[]
  templates: PlanTemplate[]
  guarantees: PlanGuarantee[]
  /** Those of one turn together, the first turn first. */
  drainOrder: string[][]
  warnings: Reason[]
  refusals: Refusal[]
}

export interface PlanPod {
  pod: PodView
  stored: ReadJournal
  /** A run that is not finished says what was drained for it. */
  isOnRecord: boolean
  /** What its workload brings it to. */
  images: ContainerImage[]
  /** Each container that changes is one that needs no drain. */
  isKept: boolean
  /** Why it is left as it is, on whatever images. */
  stays?: Reason
  /** Where it is in the load balancers, or why it is not. */
  targets:
    | { found: true; targets: PlannedTarget[]; lookedFor?: ReasonOf<'to-upgrade'>['lookedFor'] }
    | { found: false; reason: Reason; isThere?: true }
}

const ADOPTED: Record<Exclude<JournalStep, 'closed'>, Reason> = {
  drain: { code: 'goes-on-with-patch' },
  patched: { code: 'goes-on-from-patch' },
  restore: { code: 'goes-on-with-restore' },
}

/** Which of both a request is, its run's own ledger says. */
function adopted({ step, rollback, undrained }: Journal): Reason {
  if (undrained && !(rollback && step === 'patched')) return { code: 'goes-on-without-drain', containers: undrained }
  if (rollback === undefined || step !== 'patched') return ADOPTED[step as Exclude<JournalStep, 'closed'>]
  return { code: 'goes-on-with-rollback', images: rollback }
}

/** Decides what would be done with each pod, and why. */
export function buildPlan(input: PlanInput): Plan {
  const considered = input.pods
    .filter(({ pod, stored }) => !pod.finished || isOpen(stored))
    .toSorted((a, b) => input.byUpgradeOrder(a.pod, b.pod))
  const refusals = [...input.refusals]
  if (considered.length === 0 && refusals.length === 0) {
    refusals.push({ code: 'no-pods' })
  }
  const plans = considered.map((one): PodPlan => {
    const plan = planPod(one)
    // Its workload has refused already what the images themselves are wrong about; not that it may be left half done.
    const isTold = input.refusals.length > 0 && one.stored.kind !== 'unreadable'
    if (plan.action === 'refuse' && !isTold) refusals.push(refusalOf(plan, one))
    return plan
  })
  // Of those that stay: one that goes is not there to be had, and what comes in its place counts as soon as it is there.
  const staying = considered.filter(({ pod }) => !pod.deleting && !pod.finished)
  const window = windowSize(input.maxUnavailable, staying.length)
  const isHalfDone = input.leftOut.length > 0 || plans.some(({ action }) => action === 'adopt')
  const full = fullWindow(plans, { window, isHalfDone })
  if (full) refusals.push(full)
  const { namespace, workloads, templates, guarantees, warnings } = input
  // No kubelet would carry out the patch: such a pod waits for its node.
  const silent = new Set(considered.flatMap(({ pod }) => (pod.nodeIsSilent ? [pod.uid] : [])))
  const leftOut = input.leftOut.flatMap(({ loadBalancer, target, untouched }) => (untouched ? [] : [{ loadBalancer, target }]))
  // An undo may give a template what none of its pods goes back to; to an abort it is the run's doing all the same.
  const ofTemplates = templates.flatMap(({ change }) => change.map(({ container, to }) => ({ container, image: to })))
  const wanted = [...considered.flatMap((one) => one.images), ...ofTemplates]
  const images = [...new Map(wanted.map((image) => [JSON.stringify(image), image])).values()]
  return {
    namespace,
    workloads,
    images,
    templates,
    pods: plans.toSorted((a, b) => rank(a, silent) - rank(b, silent)),
    ...(leftOut.length === 0 ? {} : { leftOut }),
    window,
    guarantees,
    ...(input.drainOrder.length > 1 ? { drainOrder: input.drainOrder } : {}),
    warnings: [...warnings, ...considered.flatMap(unbalanced)],
    refusals,
  }
}

function planPod({ pod, stored, images, isKept, stays, targets }: PlanPod): PodPlan {
  const base = {
    uid: pod.uid,
    name: pod.name,
    ...(pod.node === undefined ? {} : { node: pod.node }),
    images: changesFor(pod, images),
    targets: targets.found ? targets.targets : [],
  }
  if (stored.kind === 'unreadable')
    return { ...base, action: 'refuse', reason: { code: 'journal-unreadable', problem: stored.problem } }
  const open = openJournal(stored)
  if (open) return { ...base, action: 'adopt', reason: adopted(open) }
  if (pod.deletion) return { ...base, action: 'skip', reason: { code: 'terminating', ...pod.deletion } }
  const unknown = images.find(({ container }) => !pod.containers.some(({ name }) => name === container))
  if (unknown) return { ...base, action: 'refuse', reason: { code: 'no-container', container: unknown.container } }
  if (asksFor(pod, images)) {
    // One that is not ready takes none in any case, and comes to have an address.
    const unserved = targets.found || !pod.ready ? {} : { unserved: targets.reason }
    return {
      ...base,
      action: 'skip',
      reason: stays ?? { code: 'runs-wanted-images', ready: pod.ready },
      ...unserved,
    }
  }
  if (isKept) return { ...base, action: 'upgrade', reason: toUpgrade(pod, 'kept') }
  if (!targets.found) return { ...base, action: 'refuse', reason: { code: 'not-drainable', because: targets.reason } }
  const isOut = howMuchOut(targets.targets, ({ inRotation }) => !inRotation) === 'all'
  const rotation = targets.targets.length === 0 ? 'none' : isOut ? 'operator' : 'in'
  return { ...base, action: 'upgrade', reason: toUpgrade(pod, rotation, targets.lookedFor) }
}

function toUpgrade(
  pod: PodView,
  rotation: ReasonOf<'to-upgrade'>['rotation'],
  lookedFor: ReasonOf<'to-upgrade'>['lookedFor'] = [],
): ReasonOf<'to-upgrade'> {
  return {
    code: 'to-upgrade',
    rotation,
    ...(pod.ready ? {} : { standing: standing(pod) }),
    lookedFor,
    waitsForNode: pod.nodeIsSilent ?? false,
  }
}

/** Nothing is done with it, and nobody else may have seen it: a pod that was made anew at another address, perhaps. */
function unbalanced({ pod, images, stays, targets }: PlanPod): Reason[] {
  if (targets.found || pod.deleting || !asksFor(pod, images)) return []
  return [{ code: 'not-in-every-load-balancer', pod: pod.name, stays: stays !== undefined, because: targets.reason }]
}

function refusalOf(plan: PodPlan, { pod, stored, isOnRecord, targets }: PlanPod): Refusal {
  const { name, reason: because } = plan
  if (stored.kind === 'unreadable') {
    // Of both the one that is looked after again: a run reads it back, and puts it back.
    const traffic = isOnRecord ? 'out' : 'in'
    const resolve = { command: 'resolve', pod: name, namespace: pod.namespace, traffic } as const
    return { code: 'unreadable-journal', pod: name, because, isOnRecord, resolve }
  }
  if (pod.ip === undefined) return { code: 'no-address', pod: name, because }
  const isThere = !targets.found && targets.isThere === true
  return { code: 'not-in-load-balancer', pod: name, because, isThere }
}

/**
 * By the rule of the window: with what an operator has out, or a load balancer does not have, a pod would never start. Not what is
 * half done counts: its record says what an operator had out before the drain, and a run that was refused for it would leave it
 * out of rotation everywhere else. Nor do, beside what is half done, pods that no load balancer has: a run that goes on waits
 * until they are there.
 */
function fullWindow(
  pods: readonly PodPlan[],
  { window, isHalfDone }: { window: number; isHalfDone: boolean },
): Refusal | undefined {
  // One that is refused may be out by sluice's own doing, with a record that cannot be read: "put it back" would be wrong.
  const counted = pods.filter(({ action }) => action === 'upgrade' || action === 'skip')
  const all = counted.map((pod) => standingOf(pod, isHalfDone))
  const stuck = new Set(stuckPods(all, window).map(({ uid }) => uid))
  if (stuck.size === 0) return undefined
  const unserved = all.filter(({ operatorOut, unserved: isUnserved }) => operatorOut === 'none' && isUnserved)
  const because = counted.find(({ uid }) => uid === unserved[0]?.uid)?.unserved
  return {
    code: 'window-full',
    window,
    operator: namesOf(ofThem(all, 'all')),
    operatorInPart: namesOf(ofThem(all, 'some')),
    unserved: namesOf(unserved),
    ...(because === undefined ? {} : { because }),
    // What is out itself leaves where it is in rotation still.
    anyOut: all.some(({ uid, operatorOut }) => stuck.has(uid) && operatorOut !== 'none'),
  }
}

/** In the window, once all that is not ready or under way has come home. */
function standingOf({ uid, name, action, targets, unserved }: PodPlan, isHalfDone: boolean): WindowPod {
  return {
    uid,
    name,
    standing: action === 'upgrade' ? 'waiting' : 'idle',
    ready: true,
    operatorOut: howMuchOut(targets, ({ inRotation }) => !inRotation),
    unserved: unserved !== undefined && !isHalfDone,
  }
}

function ofThem(pods: readonly WindowPod[], how: OperatorOut): WindowPod[] {
  return pods.filter(({ operatorOut }) => operatorOut === how)
}

function namesOf(pods: readonly WindowPod[]): string[] {
  return pods.map(({ name }) => name)
}

function rank({ uid, action }: PodPlan, silent: ReadonlySet<string>): number {
  if (action === 'upgrade') return silent.has(uid) ? 2 : 1
  return action === 'adopt' ? 0 : 3
}
