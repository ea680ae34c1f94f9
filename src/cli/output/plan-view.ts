import { worded } from '../../report/words/document.ts'
import { wayOutOf } from '../../report/words/refusals.ts'
import type { Writing } from '../../report/words/writing.ts'
import type { Plan, PlannedTarget, PodPlan } from '../../plan/plan.ts'
import { raisedDeadlineWords } from '../../report/report-words.ts'
import type { Colors } from './color.ts'
import { table } from './columns.ts'
import { inert } from './inert.ts'
import { drainOrder, guarantees, heading, imageChanges, leftOut, templates, warnings } from './plan-outline.ts'
import { API_VERSION } from './api-version.ts'
import { planFields } from './plan-fields.ts'

/** The document of `plan -o json`. Under one apiVersion, fields are added, and never changed or removed. */
export function planDocument(plan: Plan, write: Writing): unknown {
  return worded({ apiVersion: API_VERSION, kind: 'Plan', ...planFields(plan) }, write)
}

/** Returns the plan in text, as lines. */
export function planLines(plan: Plan, colors: Colors, write: Writing): string[] {
  const sections = [
    heading(plan),
    podTable(plan, colors, write),
    templates(plan),
    leftOut(plan),
    [...guarantees(plan), ...drainOrder(plan)],
    onNodes(plan),
    (plan.raisedDeadlines ?? []).map((one) => inert(raisedDeadlineWords(one))),
    warnings(plan, colors, write),
    refusalLines(plan, colors, write),
  ]
  return sections.filter((lines) => lines.length > 0).flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]))
}

function podTable({ pods }: Plan, colors: Colors, write: Writing): string[] {
  if (pods.length === 0) return []
  const rows = pods.map((pod) => [
    inert(pod.name),
    actionCell(pod, colors),
    imageChanges(pod.images),
    targetCell(pod.targets),
    inert(write.reason(pod.reason)),
  ])
  return table([['POD', 'ACTION', 'IMAGES', 'TARGETS', 'REASON'], ...rows])
}

function actionCell({ action: name }: PodPlan, colors: Colors): string {
  if (name === 'refuse') return colors.red(name)
  return name === 'skip' ? colors.dim(name) : colors.green(name)
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

const NAMED_AT_MOST = 5

/** Shows where the images are. A wrong image is found only once a pod is out of rotation, unless its node has the image already. */
function onNodes({ imagesOnNodes = [] }: Plan): string[] {
  return imagesOnNodes.map(({ image, present, absent, unknown }) => {
    const name = inert(image)
    if (absent.length + unknown.length === 0)
      return `${name} is on the ${present.length === 1 ? 'node' : 'nodes'} of its pods already`
    const parts = [
      ...(absent.length === 0 ? [] : [`is not on ${nodeNames(absent)}`]),
      ...(unknown.length === 0 ? [] : [`may not be on ${nodeNames(unknown)}`]),
    ]
    return `${name} ${parts.join(', and ')}: the kubelet pulls it there while the pod is out of rotation; whether it exists is not checked`
  })
}

function nodeNames(nodes: readonly string[]): string {
  const named = nodes.slice(0, NAMED_AT_MOST).map(inert).join(', ')
  const more = nodes.length - NAMED_AT_MOST
  return `${nodes.length === 1 ? 'node' : 'nodes'} ${named}${more > 0 ? ` and ${more} more` : ''}`
}

/** Groups refusals with one way out above it: a thousand pods in no load balancer have one cause. */
function refusalLines(plan: Plan, colors: Colors, write: Writing): string[] {
  const byWayOut = Map.groupBy(plan.refusals, (refusal) => JSON.stringify([refusal.code, wayOutOf(refusal)]))
  return [...byWayOut.values()].flatMap((alike) => {
    const { hint, command } = wayOutOf(alike[0]!)
    return [
      ...alike.map((one) => colors.red(`refused: ${inert(write.reason(one))} [${one.code}]`)),
      `    ${inert(hint)}`,
      ...(command === undefined ? [] : [`      ${inert(write.command(command))}`]),
    ]
  })
}
