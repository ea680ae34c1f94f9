import { isFinished } from '../endpoints/pod-membership.ts'
import { isReady, notReadyBecause } from '../endpoints/readiness.ts'
import type { Reason } from '../reasons/reason.ts'
import type { ConditionExplanation } from './explanation.ts'
import type { StoredPod } from '../endpoints/stored.ts'
import { conditionPath, KUBELET, writerOf } from '../endpoints/writers.ts'

/** The conditions that the kubelet owns. The node lifecycle controller may also set Ready to False. */
const OF_KUBELET = ['Ready', 'ContainersReady', 'Initialized', 'PodReadyToStartContainers']

/** The reasons that belong to the pod itself, and to no Service. */
const OF_POD = [
  'pod-finished',
  'pod-has-no-address',
  'terminating',
  'containers-not-ready',
  'readiness-gates-closed',
  'node-silent',
  'ready-condition',
  'host-network',
] as const

export function isOfPod({ code }: Reason): boolean {
  return OF_POD.some((one) => one === code)
}

/** The reasons why a pod cannot get requests, without the consequences of the first. */
export function unfitBecause(pod: StoredPod): Reason[] {
  const { phase } = pod.status ?? {}
  const { restartPolicy } = pod.spec
  if (isFinished(pod)) {
    const ended = phase === 'Succeeded' ? phase : 'Failed'
    return [{ code: 'pod-finished', phase: ended, ...(restartPolicy === undefined ? {} : { restartPolicy }) }]
  }
  const { deletionTimestamp: dueAt, finalizers = [] } = pod.metadata
  const hasAddress = Boolean(pod.status?.podIP) || (pod.status?.podIPs ?? []).length > 0
  return [
    ...(dueAt === undefined ? [] : [{ code: 'terminating' as const, dueAt, finalizers: [...finalizers] }]),
    ...(hasAddress ? [] : [{ code: 'pod-has-no-address' as const }]),
    ...(isReady(pod) ? [] : [readyTakenBecause(pod)]),
  ]
}

/** A Ready without a reason comes from the node lifecycle controller, or from a manual change of the status alone. */
function readyTakenBecause(observed: StoredPod): Reason {
  const because = notReadyBecause(observed)
  const { status, writtenBy } = conditionOf(observed, 'Ready')
  const isByHand = writtenBy !== undefined && writtenBy.is !== 'kubelet' && writtenBy.is !== 'controller-manager'
  return because.code === 'node-silent' && isByHand ? { code: 'ready-condition', status } : because
}

export function isFit(observed: StoredPod): boolean {
  return unfitBecause(observed).length === 0
}

/** Lists Ready and its parts, then the conditions that tell why the pod has no node, or is going. */
export function conditionsOfPod(pod: StoredPod): ConditionExplanation[] {
  const gates = (pod.spec.readinessGates ?? []).map(({ conditionType }) => conditionType)
  const types = new Set(['Ready', 'ContainersReady', ...gates])
  const stands = (pod.status?.conditions ?? []).filter(
    ({ type, status }) => (type === 'PodScheduled' && status !== 'True') || (type === 'DisruptionTarget' && status === 'True'),
  )
  return [...types, ...stands.map(({ type }) => type)].map((type) => conditionOf(pod, type))
}

export function conditionOf({ metadata, status }: StoredPod, type: string): ConditionExplanation {
  const found = status?.conditions?.find((one) => one.type === type)
  if (found === undefined) return { type, status: 'missing' }
  const { reason, message, lastTransitionTime } = found
  const writer = writerOf(metadata.managedFields, conditionPath(type), KUBELET)
  return {
    type,
    status: found.status,
    ...(reason ? { reason } : {}),
    ...(message ? { message } : {}),
    ...(lastTransitionTime ? { since: lastTransitionTime } : {}),
    ...(writer === undefined ? {} : { writtenBy: writer }),
  }
}

/** Reports conditions of the kubelet that another client has set. */
export function conditionsByOthers(pod: StoredPod): Reason[] {
  return OF_KUBELET.flatMap((type): Reason[] => {
    const { status, writtenBy: writer } = conditionOf(pod, type)
    if (writer === undefined || writer.is === 'kubelet') return []
    if (type === 'Ready' && writer.is === 'controller-manager') return []
    return [{ code: 'condition-by-other', pod: pod.metadata.name, condition: type, status, writer }]
  })
}
