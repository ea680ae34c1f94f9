import type { Plan, PlannedTarget, PodPlan, WorkloadRef } from '../../plan/plan.ts'
import type { Colors } from './color.ts'
import { table } from './columns.ts'
import { inert } from './inert.ts'
import { API_VERSION } from './run-report.ts'

/** True where a run would do something. */
export function hasChanges(plan: Plan): boolean {
  return (
    plan.pods.some(({ action }) => action === 'upgrade' || action === 'adopt') ||
    plan.templates.some(({ change }) => change.length > 0)
  )
}

/** For `plan -o json`. Fields are added, never changed or removed, under one apiVersion. */
export function planDocument(plan: Plan): object {
  return { apiVersion: API_VERSION, kind: 'Plan', changes: hasChanges(plan), ...plan }
}

/** The plan for a person, a line each. */
export function planLines(plan: Plan, colors: Colors): string[] {
  const sections = [
    heading(plan),
    podTable(plan, colors),
    templates(plan),
    guarantees(plan),
    warnings(plan, colors),
    refusals(plan, colors),
  ]
  return sections.filter((lines) => lines.length > 0).flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]))
}

/** What a run begins with: the plan without its table, which the run itself tells pod by pod. */
export function planOutline(plan: Plan, colors: Colors): string[] {
  return [...heading(plan), ...templates(plan), ...guarantees(plan), ...warnings(plan, colors)]
}

function heading({ workloads, namespace, pods, window }: Plan): string[] {
  const what = workloads.length === 0 ? 'Pods' : workloads.map(refName).join(', ')
  const counts = (['upgrade', 'adopt', 'skip', 'refuse'] as const).flatMap((action) => {
    const count = pods.filter((pod) => pod.action === action).length
    return count === 0 ? [] : [`${count} to ${action}`]
  })
  return [
    `${what} in namespace ${inert(namespace)}: ${counts.length === 0 ? 'no pods' : counts.join(', ')}; at most ${window} out of rotation at once`,
  ]
}

function podTable({ pods }: Plan, colors: Colors): string[] {
  if (pods.length === 0) return []
  const rows = pods.map((pod) => [
    inert(pod.name),
    actionCell(pod, colors),
    imageCell(pod.images),
    targetCell(pod.targets),
    inert(pod.reason),
  ])
  return table([['POD', 'ACTION', 'IMAGES', 'TARGETS', 'REASON'], ...rows])
}

function actionCell({ action: name }: PodPlan, colors: Colors): string {
  if (name === 'refuse') return colors.red(name)
  return name === 'skip' ? colors.dim(name) : colors.green(name)
}

function imageCell(images: PodPlan['images']): string {
  if (images.length === 0) return '-'
  return images.map(({ container, from, to }) => `${inert(container)}: ${inert(from)} → ${inert(to)}`).join(', ')
}

function targetCell(targets: readonly PlannedTarget[]): string {
  if (targets.length === 0) return '-'
  return targets
    .map(
      ({ loadBalancer, target, inRotation }) =>
        `${inert(loadBalancer)}: ${inert(target)}${inRotation ? '' : ' (out of rotation, stays so)'}`,
    )
    .join(', ')
}

function templates(plan: Plan): string[] {
  const changed = plan.templates.filter(({ change }) => change.length > 0)
  return changed.map(({ workload, change }) => `The template of ${refName(workload)} is patched first: ${imageCell(change)}`)
}

function guarantees(plan: Plan): string[] {
  return plan.guarantees.map(
    ({ loadBalancer, adapter, level, meaning }) => `${inert(loadBalancer)} (${inert(adapter)}) ${level}: ${inert(meaning)}`,
  )
}

function warnings(plan: Plan, colors: Colors): string[] {
  return plan.warnings.map((message) => colors.yellow(`warning: ${inert(message)}`))
}

function refusals(plan: Plan, colors: Colors): string[] {
  return plan.refusals.flatMap(({ code, message, hint }) => [
    colors.red(`refused: ${inert(message)} [${inert(code)}]`),
    ...(hint === undefined ? [] : [`    ${inert(hint)}`]),
  ])
}

function refName({ kind, name }: WorkloadRef): string {
  return `${kind.toLowerCase()}/${inert(name)}`
}
