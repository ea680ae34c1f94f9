import { asksFor, changesFor } from '../pods/baseline.ts'
import type { ContainerImage, Journal, JournalStep, JournalTarget, PodView, ReadJournal } from '../pods/glossary.ts'
import type { Plan, PlanGuarantee, PlannedTarget, PlanTemplate, PodPlan, Refusal, WorkloadRef } from './plan.ts'
import type { OperatorOut, WindowPod } from './window.ts'
import { howMuchOut, stuckPods, windowSize } from './window.ts'
import { isOpen, openJournal } from '../pods/open-journal.ts'
import { standing } from '../pods/readiness.ts'
import type { Reason, ReasonOf } from '../reasons/reason.ts'

/** Everything that a plan depends on: the request, and the observed state. */
export interface PlanInput {
  namespace: string
  workloads: WorkloadRef[]
  maxUnavailable: { count: number } | { percent: number }
  pods: PlanPod[]
  byUpgradeOrder(a: PodView, b: PodView): number
  /** Targets that an earlier run left out of rotation for pods that no longer exist. */
  leftOut: readonly JournalTarget[]
  templates: PlanTemplate[]
  guarantees: PlanGuarantee[]
  /** The names of load balancers, grouped into turns. The first turn drains first. */
  drainOrder: string[][]
  warnings: Reason[]
  refusals: Refusal[]
}

export interface PlanPod {
  pod: PodView
  stored: ReadJournal
  /** True where the ledger of an unfinished run records the drained targets of this pod. */
  isOnRecord: boolean
  /** The images that the run wants for this pod. */
  images: ContainerImage[]
  /** True where no container that changes needs a drain. */
  isKept: boolean
  /** The reason why the run leaves the pod as it is, whatever its images. */
  stays?: Reason
  /** The targets of the pod in the load balancers, or the reason why they were not found. */
  targets:
    | { found: true; targets: PlannedTarget[]; lookedFor?: ReasonOf<'to-upgrade'>['lookedFor'] }
    | { found: false; reason: Reason; isThere?: true }
}

const ADOPTED: Record<Exclude<JournalStep, 'closed'>, Reason> = {
  drain: { code: 'goes-on-with-patch' },
  patched: { code: 'goes-on-from-patch' },
  restore: { code: 'goes-on-with-restore' },
}

/**
 * Returns the reason to continue from an open journal. A journal with `rollback` at the step `patched` is on its way back to the former
 * images.
 */
function adopted({ step, rollback, undrained }: Journal): Reason {
  if (undrained && !(rollback && step === 'patched')) return { code: 'goes-on-without-drain', containers: undrained }
  if (rollback === undefined || step !== 'patched') return ADOPTED[step as Exclude<JournalStep, 'closed'>]
  return { code: 'goes-on-with-rollback', images: rollback }
}

/** Decides the action for each pod, and gives the reason. */
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
    // The refusal of the workload reports problems of the images already, and does not report an unreadable journal.
    const isTold = input.refusals.length > 0 && one.stored.kind !== 'unreadable'
    if (plan.action === 'refuse' && !isTold) refusals.push(refusalOf(plan, one))
    return plan
  })
  // The window is a share of the pods that stay. A terminating pod does not count; its replacement counts once it exists.
  const staying = considered.filter(({ pod }) => !pod.deleting && !pod.finished)
  const window = windowSize(input.maxUnavailable, staying.length)
  const isHalfDone = input.leftOut.length > 0 || plans.some(({ action }) => action === 'adopt')
  const full = fullWindow(plans, { window, isHalfDone })
  if (full) refusals.push(full)
  const { namespace, workloads, templates, guarantees, warnings } = input
  // No kubelet would apply the patch, so a pod on a silent node starts after the others.
  const silent = new Set(considered.flatMap(({ pod }) => (pod.nodeIsSilent ? [pod.uid] : [])))
  const leftOut = input.leftOut.flatMap(({ loadBalancer, target, untouched }) => (untouched ? [] : [{ loadBalancer, target }]))
  // An undo can give a template images that none of its pods goes back to. An abort counts these images as a change of the run too.
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
    // A pod that is not ready gets no requests in any case, and gets an address later.
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

/**
 * Warns of a skipped pod that is not in every load balancer, such as a pod that was recreated at another address. Nothing else reports
 * it.
 */
function unbalanced({ pod, images, stays, targets }: PlanPod): Reason[] {
  if (targets.found || pod.deleting || !asksFor(pod, images)) return []
  return [{ code: 'not-in-every-load-balancer', pod: pod.name, stays: stays !== undefined, because: targets.reason }]
}

function refusalOf(plan: PodPlan, { pod, stored, isOnRecord, targets }: PlanPod): Refusal {
  const { name, reason: because } = plan
  if (stored.kind === 'unreadable') {
    // For a pod on record, `out` is suggested: a later run then looks after the pod, and puts it back. Without a record, an operator
    // puts the pod back by hand.
    const traffic = isOnRecord ? 'out' : 'in'
    const resolve = { command: 'resolve', pod: name, namespace: pod.namespace, traffic } as const
    return { code: 'unreadable-journal', pod: name, because, isOnRecord, resolve }
  }
  if (pod.ip === undefined) return { code: 'no-address', pod: name, because }
  const isThere = !targets.found && targets.isThere === true
  return { code: 'not-in-load-balancer', pod: name, because, isThere }
}

/**
 * Refuses a run whose pods could never start, because pods that an operator has out, or that a load balancer lacks, fill the window. A
 * half-done pod does not count: a refusal would leave it out of rotation. Beside half-done pods, an unserved pod does not count either:
 * the run waits until a load balancer has it.
 */
function fullWindow(
  pods: readonly PodPlan[],
  { window, isHalfDone }: { window: number; isHalfDone: boolean },
): Refusal | undefined {
  // A refused pod does not count: sluice itself may have drained it, and its record may be unreadable, so that "put it back" would be
  // wrong.
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
    // A stuck pod that an operator has out in part counts too: its upgrade would leave the load balancers where it is still in rotation.
    anyOut: all.some(({ uid, operatorOut }) => stuck.has(uid) && operatorOut !== 'none'),
  }
}

/** Returns the state of the pod in the window, once all pods are ready and no work is under way. */
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
