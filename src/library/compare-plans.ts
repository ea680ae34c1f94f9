import type { Plan, PodPlan } from '../plan/plan.ts'

/** The planned action on one pod. */
export type PodIntent = Pick<PodPlan, 'action' | 'images' | 'targets'>

/** Parts of a plan that do not belong to one pod. */
export type PlanPart =
  | 'namespace'
  | 'workloads'
  | 'images'
  | 'templates'
  | 'window'
  | 'loadBalancers'
  | 'drainOrder'
  | 'leftOut'
  | 'undoes'
  | 'refusals'

/** One difference between the kept plan and the plan of now. A side is undefined if it lacks the pod or the part. */
export type PlanChange =
  | { what: 'pod'; uid: string; pod: string; planned: PodIntent | undefined; now: PodIntent | undefined }
  | { what: PlanPart; planned: unknown; now: unknown }

/** Compares the actions of two plans. Texts (reasons, warnings, messages) and the order in which the pods start are not compared. */
export function comparePlans(planned: Plan, now: Plan): PlanChange[] {
  return [...podChanges(planned, now), ...partChanges(planned, now)]
}

function podChanges(planned: Plan, now: Plan): PlanChange[] {
  const before = new Map(planned.pods.map((pod) => [pod.uid, pod]))
  const after = new Map(now.pods.map((pod) => [pod.uid, pod]))
  return [...new Map([...before, ...after])].flatMap(([uid, { name }]): PlanChange[] => {
    const [was, is] = [intentOf(before.get(uid)), intentOf(after.get(uid))]
    return isSame(was, is) ? [] : [{ what: 'pod', uid, pod: name, planned: was, now: is }]
  })
}

function intentOf(pod: PodPlan | undefined): PodIntent | undefined {
  return pod && { action: pod.action, images: pod.images, targets: pod.targets }
}

function partChanges(planned: Plan, now: Plan): PlanChange[] {
  const [was, is] = [partsOf(planned), partsOf(now)]
  return (Object.keys(was) as PlanPart[]).flatMap((what) =>
    isSame(was[what], is[what]) ? [] : [{ what, planned: was[what], now: is[what] }],
  )
}

function partsOf(plan: Plan): Record<PlanPart, unknown> {
  return {
    namespace: plan.namespace,
    workloads: plan.workloads,
    images: plan.images,
    templates: plan.templates,
    window: plan.window,
    loadBalancers: plan.guarantees.map(({ loadBalancer, adapter, level }) => ({ loadBalancer, adapter, level })),
    drainOrder: plan.drainOrder,
    leftOut: plan.leftOut,
    undoes: plan.undoes,
    // Both refused plans do nothing, whatever the reasons of their refusals are.
    refusals: plan.refusals.length > 0 ? 'refused' : undefined,
  }
}

/** Compares as JSON, because a plan may have been stored as JSON. */
function isSame(one: unknown, other: unknown): boolean {
  return canonical(one) === canonical(other)
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
