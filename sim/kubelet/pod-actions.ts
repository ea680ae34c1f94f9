import { type ContainerSpec, type Pod, isSidecar } from './pod.ts'
import { containerOf, shouldStart } from './pod-status.ts'
import type { RuntimeContainer, RuntimePod } from './runtime.ts'

/** The actions of a sync, in this order. */
export interface PodActions {
  /** The sandbox is missing: all containers end and start again. */
  newSandbox: boolean
  kill: { spec: ContainerSpec; container: RuntimeContainer }[]
  startInit: ContainerSpec[]
  start: ContainerSpec[]
}

/** The computePodActions of the kubelet: uses the spec and the last look at the runtime. */
export function podActions(pod: Pod, runtime: RuntimePod): PodActions {
  const { containers, initContainers = [] } = pod.spec
  const kill: PodActions['kill'] = []
  if (runtime.sandbox?.ready !== true) {
    const starts = containers.filter((one) => runtime.sandbox === undefined || shouldStartAnew(pod, one, runtime))
    if (starts.length === 0) return { newSandbox: false, kill, startInit: [], start: [] }
    for (const spec of [...containers, ...initContainers]) {
      const running = containerOf(runtime, spec.name)
      if (running !== undefined && running.exit === undefined) kill.push({ spec, container: running })
    }
    return initContainers.length > 0
      ? { newSandbox: true, kill, startInit: [initContainers[0]!], start: [] }
      : { newSandbox: true, kill, startInit: [], start: starts }
  }

  const { startInit, initialized } = initActions(pod, runtime, kill)
  const start: ContainerSpec[] = []
  if (initialized) {
    for (const spec of containers) {
      const newest = containerOf(runtime, spec.name)
      if (newest === undefined || newest.exit !== undefined) {
        if (shouldStart(pod, spec, runtime)) start.push(spec)
      } else if (newest.image !== spec.image) {
        // The restart policy does not matter here.
        kill.push({ spec, container: newest })
        start.push(spec)
      }
    }
  }
  return { newSandbox: false, kill, startInit, start }
}

/** With a new sandbox every container runs again, except a finished container that its policy does not restart. */
function shouldStartAnew(pod: Pod, container: ContainerSpec, runtime: RuntimePod): boolean {
  const policy = pod.spec.restartPolicy ?? 'Always'
  if (policy === 'Always') return true
  if (policy === 'Never') return runtime.containers.length === 0
  return containerOf(runtime, container.name)?.exit?.code !== 0
}

function initActions(
  pod: Pod,
  runtime: RuntimePod,
  kill: PodActions['kill'],
): { startInit: ContainerSpec[]; initialized: boolean } {
  const { containers, initContainers = [] } = pod.spec
  const startInit: ContainerSpec[] = []
  const runs = (name: string): boolean => {
    const newest = containerOf(runtime, name)
    return newest !== undefined && newest.exit === undefined
  }
  const hasRun = containers.some(({ name }) => runs(name))
  for (const spec of initContainers) {
    const newest = containerOf(runtime, spec.name)
    if (isSidecar(spec)) {
      if (newest === undefined || newest.exit !== undefined) {
        startInit.push(spec)
        if (!hasRun) return { startInit, initialized: false }
      } else if (newest.image !== spec.image) {
        kill.push({ spec, container: newest })
        startInit.push(spec)
      }
      continue
    }
    if (hasRun || newest?.exit?.code === 0) continue
    if (newest === undefined || (newest.exit !== undefined && pod.spec.restartPolicy !== 'Never')) startInit.push(spec)
    return { startInit, initialized: false }
  }
  return { startInit, initialized: true }
}
