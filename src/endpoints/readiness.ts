import type { Pod, PodCondition } from './objects.ts'
import type { PodEndpointReason } from './reasons.ts'

interface WithConditions<Condition> {
  readonly status?: { readonly conditions?: readonly Condition[] }
}

/** The condition Ready of a pod or of a node. */
export function readyOf<Condition extends PodCondition>(object: WithConditions<Condition>): Condition | undefined {
  return find(object, 'Ready')
}

/** The controllers read only condition Ready. */
export function isReady(object: WithConditions<PodCondition>): boolean {
  return readyOf(object)?.status === 'True'
}

/** The reason why condition Ready is not True. */
export function notReadyBecause(pod: Pod): PodEndpointReason {
  const ready = find(pod, 'Ready')
  const areContainersReady = find(pod, 'ContainersReady')?.status === 'True'
  const containers = (pod.status?.containerStatuses ?? []).filter((one) => one.ready !== true)
  if (!areContainersReady && containers.length > 0) {
    return { code: 'containers-not-ready', containers: containers.map(({ name, state }) => ({ name, ...waiting(state) })) }
  }
  const gates = closedGates(pod)
  if (areContainersReady && gates.length > 0) return { code: 'readiness-gates-closed', gates }
  const { nodeName } = pod.spec
  // The node lifecycle controller sets no reason.
  if (areContainersReady && ready?.status === 'False' && ready.reason === undefined && nodeName)
    return { code: 'node-silent', node: nodeName }
  const { status = 'missing', reason, message } = ready ?? {}
  return { code: 'ready-condition', status, ...(reason ? { reason } : {}), ...(message ? { message } : {}) }
}

function waiting(state: { waiting?: { reason?: string } } | undefined): { waiting?: string } {
  return state?.waiting?.reason ? { waiting: state.waiting.reason } : {}
}

function closedGates(pod: Pod): { type: string; status: string; message?: string }[] {
  return (pod.spec.readinessGates ?? []).flatMap(({ conditionType: type }) => {
    const gate = find(pod, type)
    if (gate?.status === 'True') return []
    return [{ type, status: gate?.status ?? 'missing', ...(gate?.message ? { message: gate.message } : {}) }]
  })
}

function find<Condition extends PodCondition>({ status }: WithConditions<Condition>, type: string): Condition | undefined {
  return status?.conditions?.find((one) => one.type === type)
}
