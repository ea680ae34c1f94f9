import { conditionSince, readyConditions } from './ready-conditions.ts'
import {
  type ContainerSpec,
  type ContainerState,
  type ContainerStatus,
  type Phase,
  type Pod,
  type PodCondition,
  type PodStatus,
  isSidecar,
} from './pod.ts'
import type { RuntimeContainer, RuntimePod } from './runtime.ts'

/** The reasons why containers could not be started, by their names. The kubelet shows them as `waiting`. */
export type Reasons = ReadonlyMap<string, { reason: string; message: string }>

export interface StatusInput {
  pod: Pod
  runtime: RuntimePod
  /** The status before, or the status in the API. */
  old: PodStatus | undefined
  reasons: Reasons
  /** Reports whether a running container is ready. */
  isReady: (container: ContainerSpec, id: string) => boolean
  /** True where the pod will not run again, regardless of its restart policy. */
  terminal: boolean
  nodeAddress: string
  now: string
}

/** Returns the newest container of a name. */
export function containerOf(runtime: RuntimePod, name: string): RuntimeContainer | undefined {
  return runtime.containers.find((one) => one.name === name)
}

export function shouldStart(pod: Pod, container: ContainerSpec, runtime: RuntimePod): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return false
  const newest = containerOf(runtime, container.name)
  if (newest === undefined) return true
  if (newest.exit === undefined) return false
  if (isSidecar(container)) return true
  const policy = pod.spec.restartPolicy ?? 'Always'
  return policy === 'Always' || (policy === 'OnFailure' && newest.exit.code !== 0)
}

/** The generateAPIPodStatus of the kubelet. */
export function podStatus(input: StatusInput): PodStatus {
  const { pod, runtime, old, now } = input
  const init = (pod.spec.initContainers ?? []).map((container) => containerStatus(input, container, true))
  const containers = pod.spec.containers.map((container) => containerStatus(input, container, false))
  containers.sort((a, b) => (a.name < b.name ? -1 : 1))
  const phase = finalPhase(old, phaseOf(input, containers, init))
  const address = runtime.sandbox?.address ?? old?.podIP ?? (pod.spec.hostNetwork === true ? input.nodeAddress : undefined)
  return {
    observedGeneration: pod.metadata.generation ?? 0,
    phase,
    conditions: conditions(pod, old, [...init, ...containers], phase, runtime, now),
    hostIP: input.nodeAddress,
    ...(address === undefined ? {} : { podIP: address, podIPs: [{ ip: address }] }),
    startTime: old?.startTime ?? now,
    ...(init.length === 0 ? {} : { initContainerStatuses: init }),
    containerStatuses: containers,
  }
}

function containerStatus(input: StatusInput, container: ContainerSpec, isInit: boolean): ContainerStatus {
  const { pod, runtime, reasons } = input
  const before = (isInit ? input.old?.initContainerStatuses : input.old?.containerStatuses)?.find(
    ({ name }) => name === container.name,
  )
  const newest = containerOf(runtime, container.name)
  const status = newest === undefined ? neverRan(pod, container, before) : ofRuntime(newest, runtime, container.name)
  const isDone = isInit && newest?.exit?.code === 0 && !isSidecar(container)
  const reason = isDone || !shouldStart(pod, container, runtime) ? undefined : reasons.get(container.name)
  if (reason !== undefined) {
    if (status.state.terminated !== undefined) status.lastState = status.state
    status.state = { waiting: { reason: reason.reason, message: reason.message } }
  }
  const isRunning = status.state.running !== undefined
  status.started = isRunning
  status.ready = isInit && !isSidecar(container) ? isDone : isRunning && input.isReady(container, newest?.id ?? '')
  return status
}

function neverRan(pod: Pod, container: ContainerSpec, before: ContainerStatus | undefined): ContainerStatus {
  if (before?.state.terminated !== undefined) return { ...before }
  return {
    name: container.name,
    state: { waiting: { reason: (pod.spec.initContainers ?? []).length > 0 ? 'PodInitializing' : 'ContainerCreating' } },
    lastState: before?.lastState ?? {},
    ready: false,
    restartCount: before?.restartCount ?? 0,
    image: container.image,
    imageID: '',
  }
}

function ofRuntime(newest: RuntimeContainer, runtime: RuntimePod, name: string): ContainerStatus {
  const former = runtime.containers.find((one) => one.name === name && one !== newest)
  return {
    name,
    state: stateOf(newest),
    lastState: former === undefined ? {} : stateOf(former),
    ready: false,
    restartCount: newest.attempt,
    image: newest.shownImage,
    imageID: newest.imageId,
    containerID: newest.id,
  }
}

function stateOf({ id, startedAt, exit }: RuntimeContainer): ContainerState {
  if (exit === undefined) return { running: { startedAt } }
  const reason = exit.code === 0 ? 'Completed' : 'Error'
  return { terminated: { exitCode: exit.code, reason, startedAt, finishedAt: exit.at, containerID: id } }
}

/** A pod never leaves its final phase. */
function finalPhase(old: PodStatus | undefined, phase: Phase): Phase {
  return old?.phase === 'Succeeded' || old?.phase === 'Failed' ? old.phase : phase
}

function phaseOf({ pod, terminal, runtime }: StatusInput, containers: ContainerStatus[], init: ContainerStatus[]): Phase {
  const policy = pod.spec.restartPolicy ?? 'Always'
  const hasRun = pod.spec.containers.some(({ name }) => containerOf(runtime, name) !== undefined)
  let pendingInit = 0
  let running = 0
  let waiting = 0
  for (const [index, status] of init.entries()) {
    if (isSidecar(pod.spec.initContainers![index]!)) {
      if (status.state.running !== undefined) running++
      else if (status.state.terminated === undefined && status.lastState.terminated === undefined) waiting++
      continue
    }
    const { terminated } = status.state
    if (terminated === undefined) pendingInit++
    else if (terminated.exitCode !== 0 && policy === 'Never') return 'Failed'
  }
  let stopped = 0
  let succeeded = 0
  let over = 0
  for (const { state, lastState } of containers) {
    if (state.running !== undefined) running++
    else {
      const ended = state.terminated ?? lastState.terminated
      if (ended === undefined) waiting++
      else {
        stopped++
        if (state.terminated?.exitCode === 0) succeeded++
        if (policy === 'Never' || (policy === 'OnFailure' && ended.exitCode === 0)) over++
      }
    }
  }
  if ((pendingInit > 0 && !hasRun) || waiting > 0) return 'Pending'
  if (running > 0) return 'Running'
  if (stopped === 0) return 'Pending'
  if (!terminal && over < stopped) return 'Running'
  return stopped === succeeded ? 'Succeeded' : 'Failed'
}

function conditions(
  pod: Pod,
  old: PodStatus | undefined,
  statuses: ContainerStatus[],
  phase: Phase,
  runtime: RuntimePod,
  now: string,
): PodCondition[] {
  const make = (type: string, is: boolean, why?: { reason: string; message?: string }): PodCondition =>
    conditionSince(pod, old, { type, status: is ? 'True' : 'False', ...(is ? {} : why) }, now)
  const sidecarsAndDone = statuses.slice(0, pod.spec.initContainers?.length ?? 0)
  const hasRun = pod.spec.containers.some(({ name }) => containerOf(runtime, name) !== undefined)
  const initialized =
    hasRun || sidecarsAndDone.every((one) => one.ready || one.state.running !== undefined || one.state.terminated?.exitCode === 0)
  return [
    make('PodReadyToStartContainers', runtime.sandbox?.ready ?? false),
    make('Initialized', initialized, { reason: 'ContainersNotInitialized' }),
    ...readyConditions(pod, old, statuses, phase, now),
    make('PodScheduled', true),
  ]
}
