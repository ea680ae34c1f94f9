import { type ContainerStatus, type Phase, type Pod, type PodCondition, type PodStatus, condition, isSidecar } from './pod.ts'

/** Returns Ready and ContainersReady, the conditions that the result of a probe changes. */
export function readyConditions(
  pod: Pod,
  old: PodStatus | undefined,
  statuses: ContainerStatus[],
  phase: Phase,
  now: string,
): PodCondition[] {
  const counted = statuses.filter(({ name }) => {
    const init = pod.spec.initContainers?.find((one) => one.name === name)
    return init === undefined || isSidecar(init)
  })
  const unready = counted.filter(({ ready }) => !ready).map(({ name }) => name)
  const why =
    phase === 'Succeeded'
      ? { reason: 'PodCompleted' }
      : phase === 'Failed'
        ? { reason: 'PodFailed' }
        : { reason: 'ContainersNotReady', message: `containers with unready status: [${unready.join(' ')}]` }
  const containersReady = unready.length === 0 && phase !== 'Succeeded' && phase !== 'Failed'
  const gates = pod.spec.readinessGates ?? []
  const closed = gates.filter(({ conditionType }) => condition(pod.status, conditionType)?.status !== 'True')
  const gated = { reason: 'ReadinessGatesNotReady', message: `${closed.length} gates are not True` }
  return [
    conditionSince(
      pod,
      old,
      {
        type: 'Ready',
        status: containersReady && closed.length === 0 ? 'True' : 'False',
        ...(!containersReady ? why : closed.length > 0 ? gated : {}),
      },
      now,
    ),
    conditionSince(
      pod,
      old,
      { type: 'ContainersReady', status: containersReady ? 'True' : 'False', ...(containersReady ? {} : why) },
      now,
    ),
  ]
}

/** Returns a condition with the instant of its last change. */
export function conditionSince(pod: Pod, old: PodStatus | undefined, made: PodCondition, now: string): PodCondition {
  const before = condition(old, made.type)
  return {
    ...made,
    observedGeneration: pod.metadata.generation ?? 0,
    lastProbeTime: null,
    lastTransitionTime: before?.status === made.status ? (before.lastTransitionTime ?? now) : now,
  }
}

/** Returns the status with Ready and ContainersReady set from its containers. */
export function withReadyConditions(pod: Pod, status: PodStatus, now: string): PodStatus {
  const statuses = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
  const made = readyConditions(pod, status, statuses, status.phase, now)
  return { ...status, conditions: status.conditions.map((one) => made.find(({ type }) => type === one.type) ?? one) }
}

/** Returns the status after the result of a probe, by the ID of the container. Undefined where it changes nothing. */
export function withProbeResult(pod: Pod, status: PodStatus, id: string, ready: boolean, now: string): PodStatus | undefined {
  let isKnown = false
  const change = (one: ContainerStatus): ContainerStatus => {
    if (one.containerID !== id || one.ready === ready) return one
    isKnown = true
    return { ...one, ready }
  }
  const init = status.initContainerStatuses?.map(change)
  const containers = status.containerStatuses?.map(change)
  if (!isKnown) return undefined
  const changed = {
    ...status,
    ...(init === undefined ? {} : { initContainerStatuses: init }),
    ...(containers === undefined ? {} : { containerStatuses: containers }),
  }
  return withReadyConditions(pod, changed, now)
}
