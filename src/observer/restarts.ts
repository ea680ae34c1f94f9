import { isReady } from '../endpoints/readiness.ts'
import type { Context } from './context.ts'
import type { SeenPod } from './events.ts'
import { RESTARTED_PODS, RESTARTED_WITHIN_MS, STOPS_WITHIN_MS } from './limits.ts'

/** Finds Services whose pods are restarted in place one after another while they get requests. */
export interface Restarts {
  /** Takes a changed pod. `servedBy` returns the Services through which the Ready pod got requests: none where it was drained. */
  changed(before: SeenPod, pod: SeenPod, servedBy: () => readonly RestartedService[]): void
  gone(uid: string): void
}

export interface RestartedService {
  namespace: string
  name: string
  /** The number of pods that the selector has. */
  pods: number
}

interface Restarted {
  /** The instant of the last restart of each pod, by the name of the pod. */
  pods: Map<string, number>
  lastAt: number
  isTold: boolean
}

export function createRestarts(context: Context, cluster: string): Restarts {
  /** Pods that have ceased to be Ready while they got requests, by UID. Their containers may be about to restart. */
  const left = new Map<string, readonly RestartedService[]>()
  const restarted = new Map<string, Restarted>()

  function count({ namespace, name, pods }: RestartedService, pod: string): void {
    const key = `${namespace}/${name}`
    const at = context.now()
    const known = restarted.get(key)
    const own =
      known !== undefined && at - known.lastAt <= RESTARTED_WITHIN_MS ? known : { pods: new Map(), lastAt: at, isTold: false }
    restarted.set(key, own)
    own.lastAt = at
    own.pods.set(pod, at)
    for (const [other, otherAt] of own.pods) if (at - otherAt > RESTARTED_WITHIN_MS) own.pods.delete(other)
    context.later(at + RESTARTED_WITHIN_MS + 1, () => {
      if (restarted.get(key) === own && own.lastAt === at) restarted.delete(key)
    })
    // A single pod that crashes is no release. Restarts of both pods of a Service of two are a release.
    if (own.isTold || own.pods.size < Math.max(2, Math.min(RESTARTED_PODS, pods))) return
    own.isTold = true
    const spanMs = at - Math.min(...own.pods.values())
    context.find({ code: 'restarted-in-rotation', cluster, namespace, service: name, pods: [...own.pods.keys()].sort(), spanMs })
  }

  /** Remembers a pod that leaves rotation. A container that still runs was told to end, or its probes fail. */
  function leave(pod: SeenPod, services: readonly RestartedService[]): void {
    const { uid } = pod.metadata
    left.delete(uid)
    const { containerStatuses = [] } = pod.status ?? {}
    // A pod whose containers are all ready has left rotation by a readiness gate or with its node.
    const isTakenOut = !isReady(pod) && containerStatuses.every(({ ready }) => ready === true)
    if (isTakenOut || services.length === 0) return
    left.set(uid, services)
    const isStopped = containerStatuses.some((one) => one.isStopped === true)
    context.later(context.now() + (isStopped ? RESTARTED_WITHIN_MS : STOPS_WITHIN_MS), () => {
      if (left.get(uid) === services) left.delete(uid)
    })
  }

  return {
    changed(before, pod, servedBy) {
      const { uid, name } = pod.metadata
      if (pod.metadata.deletionTimestamp !== undefined) return void left.delete(uid)
      const hasRestarted = isRestarted(before, pod)
      if (isReady(before) && (hasRestarted || !isReady(pod))) leave(pod, servedBy())
      if (!hasRestarted) return
      for (const service of left.get(uid) ?? []) count(service, name)
      left.delete(uid)
    },
    gone: (uid) => void left.delete(uid),
  }
}

function isRestarted(before: SeenPod, pod: SeenPod): boolean {
  const were = new Map((before.status?.containerStatuses ?? []).map(({ name, restartCount = 0 }) => [name, restartCount]))
  return (pod.status?.containerStatuses ?? []).some(({ name, restartCount = 0 }) => restartCount > (were.get(name) ?? Infinity))
}
