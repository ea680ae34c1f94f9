import type { KubeObject } from '../api-server/server.ts'

/** The fields of a Pod that the kubelet and the controllers read. */
export interface Pod extends KubeObject {
  spec: PodSpec
  status?: PodStatus
}

export interface PodSpec {
  nodeName?: string
  hostNetwork?: boolean
  restartPolicy?: 'Always' | 'OnFailure' | 'Never'
  terminationGracePeriodSeconds?: number
  readinessGates?: { conditionType: string }[]
  initContainers?: ContainerSpec[]
  containers: ContainerSpec[]
  [field: string]: unknown
}

export interface ContainerSpec {
  name: string
  image: string
  /** `Always` makes an init container a native sidecar. */
  restartPolicy?: 'Always'
  env?: { name: string; value?: string }[]
  readinessProbe?: { periodSeconds?: number; initialDelaySeconds?: number; failureThreshold?: number; successThreshold?: number }
  lifecycle?: { preStop?: { exec?: { command?: string[] }; sleep?: { seconds: number } } }
  [field: string]: unknown
}

export interface PodStatus {
  observedGeneration?: number
  phase: Phase
  reason?: string
  message?: string
  conditions: PodCondition[]
  hostIP?: string
  podIP?: string
  podIPs?: { ip: string }[]
  startTime?: string
  initContainerStatuses?: ContainerStatus[]
  containerStatuses?: ContainerStatus[]
}

export type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed'

export interface PodCondition {
  type: string
  status: 'True' | 'False' | 'Unknown'
  reason?: string
  message?: string
  observedGeneration?: number
  lastProbeTime?: null
  lastTransitionTime?: string
}

export interface ContainerStatus {
  name: string
  state: ContainerState
  lastState: ContainerState
  ready: boolean
  started?: boolean
  restartCount: number
  image: string
  imageID: string
  containerID?: string
}

export interface ContainerState {
  waiting?: { reason?: string; message?: string }
  running?: { startedAt: string }
  terminated?: {
    exitCode: number
    reason: string
    startedAt: string
    finishedAt: string
    containerID: string
  }
}

export function isSidecar(container: ContainerSpec): boolean {
  return container.restartPolicy === 'Always'
}

export function condition(status: PodStatus | undefined, type: string): PodCondition | undefined {
  return status?.conditions?.find((one) => one.type === type)
}

export function isReady(pod: Pod): boolean {
  return condition(pod.status, 'Ready')?.status === 'True'
}

/** Reports whether a pod is Succeeded or Failed, and will not run again. */
export function isFinished(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
}

/** Returns a number of seconds from the container's environment, such as READY_AFTER of the test application. */
export function secondsOf(container: ContainerSpec, variable: string): number | undefined {
  const value = container.env?.find(({ name }) => name === variable)?.value
  return value === undefined ? undefined : Number(value)
}

/** Returns the duration of the preStop hook in seconds: a sleep, or the last word of a command. */
export function preStopSeconds({ lifecycle }: ContainerSpec): number {
  const hook = lifecycle?.preStop
  return hook?.sleep?.seconds ?? Number(hook?.exec?.command?.at(-1) ?? 0)
}
