import type { Writing } from '../../report/words/writing.ts'
import { warning } from '../../report/words/events.ts'
import type { Plan, PodPlan, WorkloadRef } from '../../plan/plan.ts'
import type { Colors } from './color.ts'
import { guaranteeWords, hazardWords } from '../../report/words/guarantees.ts'
import { imageWords } from '../../report/words/images.ts'
import { displayName } from '../../pods/workload-id.ts'
import { inert } from './inert.ts'

/** Returns the plan without its table, for the beginning of a run. The run itself reports pod by pod. */
export function planOutline(plan: Plan, colors: Colors, write: Writing): string[] {
  // Only an abort runs without pods: no pod is half done.
  return [
    ...heading(plan, 'no pods to go on with'),
    ...templates(plan),
    ...leftOut(plan),
    ...guarantees(plan),
    ...drainOrder(plan),
    ...warnings(plan, colors, write),
  ]
}

export function heading({ workloads, namespace, pods, undoes, window }: Plan, none = 'no pods'): string[] {
  const what = workloads.length === 0 ? 'Pods' : workloads.map(refName).join(', ')
  const counts = (['upgrade', 'adopt', 'skip', 'refuse'] as const).flatMap((action) => {
    const count = pods.filter((pod) => pod.action === action).length
    return count === 0 ? [] : [`${count} to ${action}`]
  })
  return [
    ...(undoes === undefined ? [] : [`Takes back run ${inert(undoes.run)}${wanted(undoes.images)}`]),
    `${what} in namespace ${inert(namespace)}: ${counts.length === 0 ? none : counts.join(', ')}; at most ${window} out of rotation at once`,
  ]
}

function wanted(images: Plan['images']): string {
  return images.length === 0 ? '' : `: ${inert(imageWords(images))}`
}

export function templates(plan: Plan): string[] {
  const changed = plan.templates.filter(({ change }) => change.length > 0)
  return changed.map(({ workload, change }) => `The template of ${refName(workload)} is patched first: ${imageChanges(change)}`)
}

export function leftOut({ leftOut: targets = [] }: Plan): string[] {
  if (targets.length === 0) return []
  const named = targets.map(({ loadBalancer, target }) => `${inert(loadBalancer)}: ${inert(target)}`).join(', ')
  return [`An earlier run may have left out of rotation, for pods that are gone: ${named}; the run settles this first`]
}

export function guarantees(plan: Plan): string[] {
  return plan.guarantees.map((one) =>
    [`${inert(one.loadBalancer)} (${inert(one.adapter)}) ${guaranteeWords(one.level)}`, ...hazardWords(one)].join('; '),
  )
}

/** Returns nothing where a pod is drained in all load balancers at once. */
export function drainOrder({ drainOrder: turns = [] }: Plan): string[] {
  if (turns.length === 0) return []
  const named = (some: readonly string[]): string => some.map(inert).join(' and ')
  return [`A pod is drained in ${turns.map(named).join(', then in ')}; it is put back in reverse`]
}

export function warnings(plan: Plan, colors: Colors, write: Writing): string[] {
  return plan.warnings.map((reason) => colors.yellow(warning({ reason }, write)))
}

export function imageChanges(images: PodPlan['images']): string {
  if (images.length === 0) return '-'
  return images.map(({ container, from, to }) => `${inert(container)}: ${inert(from)} → ${inert(to)}`).join(', ')
}

function refName(ref: WorkloadRef): string {
  return inert(displayName(ref))
}
