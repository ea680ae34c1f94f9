import { asksFor, changesFor } from '../pods/baseline.ts'
import type { ContainerImage, Journal, JournalStep, JournalTarget, PodView, ReadJournal } from '../pods/glossary.ts'
import type { Plan, PlanGuarantee, PlannedTarget, PlanTemplate, PodPlan, Refusal, WorkloadRef } from './plan.ts'
import type { OperatorOut, WindowPod } from './window.ts'
import { howMuchOut, stuckPods, windowSize } from './window.ts'
import { imageWords } from '../pods/image-words.ts'
import { isOpen, openJournal } from '../pods/open-journal.ts'
import { deletionWords, standingWords } from '../pods/readiness.ts'

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
  warnings: string[]
  refusals: Refusal[]
}

export interface PlanPod {
  pod: PodView
  stored: ReadJournal
  /** A run that is not finished says what was drained for it. */
  isOnRecord: boolean
  /** What its workload brings it to. */
  images: ContainerImage[]
  /** Why it is left as it is, on whatever images. */
  stays?: string
  /** Where it is in the load balancers, or why it is not. */
  targets: { found: true; targets: PlannedTarget[]; lookedFor?: string } | { found: false; reason: string; isThere?: true }
}

const ADOPTED: Record<Exclude<JournalStep, 'closed'>, string> = {
  drain: 'an earlier run has drained it: goes on with the patch',
  patched: 'an earlier run has patched it: goes on from there',
  restore: 'an earlier run was putting it back: goes on from there',
}

/** Which of both a request is, its run's own ledger says. */
function adopted({ step, rollback }: Journal): string {
  if (rollback === undefined || step !== 'patched') return ADOPTED[step as Exclude<JournalStep, 'closed'>]
  return `an earlier run is rolling it back to ${imageWords(rollback)}: the same request ends that, another goes on to its own images`
}

/** Decides what would be done with each pod, and why. */
export function buildPlan(input: PlanInput): Plan {
  const considered = input.pods
    .filter(({ pod, stored }) => !pod.finished || isOpen(stored))
    .toSorted((a, b) => input.byUpgradeOrder(a.pod, b.pod))
  const refusals = [...input.refusals]
  if (considered.length === 0 && refusals.length === 0) {
    refusals.push({ code: 'no-pods', message: 'no pods match', hint: 'Check the name or the selector, and the namespace (-n).' })
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
    warnings: [...warnings, ...considered.flatMap(unbalanced)],
    refusals,
  }
}

function planPod({ pod, stored, images, stays, targets }: PlanPod): PodPlan {
  const base = {
    uid: pod.uid,
    name: pod.name,
    ...(pod.node === undefined ? {} : { node: pod.node }),
    images: changesFor(pod, images),
    targets: targets.found ? targets.targets : [],
  }
  if (stored.kind === 'unreadable') return { ...base, action: 'refuse', reason: `its journal cannot be read: ${stored.reason}` }
  const open = openJournal(stored)
  if (open) return { ...base, action: 'adopt', reason: adopted(open) }
  if (pod.deletion) return { ...base, action: 'skip', reason: `it ${deletionWords(pod.deletion)}` }
  const unknown = images.find(({ container }) => !pod.containers.some(({ name }) => name === container))
  if (unknown) return { ...base, action: 'refuse', reason: `it has no container ${unknown.container}` }
  if (asksFor(pod, images)) {
    // One that is not ready takes none in any case, and comes to have an address.
    const unserved = targets.found || !pod.ready ? {} : { unserved: targets.reason }
    return {
      ...base,
      action: 'skip',
      reason: stays ?? (pod.ready ? 'it runs these images already' : 'it has these images already, and is not ready'),
      ...unserved,
    }
  }
  if (!targets.found) return { ...base, action: 'refuse', reason: `it cannot be drained: ${targets.reason}` }
  const { lookedFor } = targets
  const waits = pod.nodeIsSilent ? '; it waits for its node' : ''
  if (targets.targets.length === 0)
    return { ...base, action: 'upgrade', reason: `${lookedFor ?? 'it was looked for in no load balancer'}: no drain${waits}` }
  // What one load balancer lacks, beside what others have.
  const lacking = lookedFor === undefined ? '' : `; ${lookedFor}: no drain there`
  const isOut = howMuchOut(targets.targets, ({ inRotation }) => !inRotation) === 'all'
  const reason = isOut
    ? 'an operator has it out of rotation: it is left exactly so'
    : pod.ready
      ? 'in rotation'
      : `in rotation, and ${standingWords(pod).replace(/^is /, '')}`
  return { ...base, action: 'upgrade', reason: reason + lacking + waits }
}

/** Nothing is done with it, and nobody else may have seen it: a pod that was made anew at another address, perhaps. */
function unbalanced({ pod, images, stays, targets }: PlanPod): string[] {
  if (targets.found || pod.deleting || !asksFor(pod, images)) return []
  return [
    `pod/${pod.name} ${stays === undefined ? 'runs these images already' : 'stays as it is'}, and is not in every load balancer: ${targets.reason}`,
  ]
}

function refusalOf(plan: PodPlan, { pod, stored, isOnRecord, targets }: PlanPod): Refusal {
  const message = `pod/${plan.name}: ${plan.reason}`
  if (stored.kind === 'unreadable') {
    const command = `sluice resolve pod/${plan.name} -n ${pod.namespace} --traffic`
    if (!isOnRecord)
      return {
        code: 'unreadable-journal',
        message,
        hint:
          'Look at its journal (sluice.dev/journal), and at the load balancer. No run that is open says what it was before a drain: ' +
          'bring it into rotation by hand, and say so:',
        command: `${command} in`,
      }
    return {
      code: 'unreadable-journal',
      message,
      hint:
        'Look at its journal (sluice.dev/journal), and at the load balancer, then say what you have seen there: ' +
        'that it gets no requests, or, with --traffic in, that it is in rotation as it should be.',
      // Of both the one that is looked after again: a run reads it back, and puts it back.
      command: `${command} out`,
    }
  }
  if (pod.ip === undefined) {
    return { code: 'no-address', message, hint: 'Wait until it has started, or see why it does not.' }
  }
  // With entries of its own, without which it is not let through.
  if (!targets.found && targets.isThere)
    return { code: 'not-in-load-balancer', message, hint: 'Mend its entries in the load balancer, or mend the config.' }
  return {
    code: 'not-in-load-balancer',
    message,
    hint:
      'Add it to the load balancer, mend its entries there, or mend the config. Entries that name a Service, a NodePort of another ' +
      'node, or a proxy before the pods cannot be found. Only one that gets no requests from there may be upgraded without a drain, by ' +
      '--allow-unbalanced.',
  }
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
  const standing = counted.map((pod) => standingOf(pod, isHalfDone))
  const stuck = new Set(stuckPods(standing, window).map(({ uid }) => uid))
  if (stuck.size === 0) return undefined
  const named = (some: readonly WindowPod[], how: string): string[] => (some.length === 0 ? [] : [`${namesOf(some)}: ${how}`])
  const unserved = standing.filter(({ operatorOut, unserved: isUnserved }) => operatorOut === 'none' && isUnserved)
  const why = counted.find(({ uid }) => uid === unserved[0]?.uid)?.unserved
  const out = [
    ...named(ofThem(standing, 'all'), 'out of rotation by an operator'),
    ...named(ofThem(standing, 'some'), 'out of rotation in part by an operator'),
    ...named(unserved, `not in every load balancer (${why})`),
  ]
  // What is out itself leaves where it is in rotation still.
  const isAnyOut = standing.some(({ uid, operatorOut }) => stuck.has(uid) && operatorOut !== 'none')
  return {
    code: 'window-full',
    message: `${out.join('; ')}, so that with maxUnavailable ${window} ${isAnyOut ? 'no pod may leave rotation' : 'no other pod may leave'}`,
    hint:
      unserved.length === 0
        ? 'Put them back once they are ready, or raise maxUnavailable.'
        : 'Put them back or in once they are ready, or raise maxUnavailable.',
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

function namesOf(pods: readonly WindowPod[]): string {
  return pods.map(({ name }) => `pod/${name}`).join(', ')
}

function rank({ uid, action }: PodPlan, silent: ReadonlySet<string>): number {
  if (action === 'upgrade') return silent.has(uid) ? 2 : 1
  return action === 'adopt' ? 0 : 3
}
