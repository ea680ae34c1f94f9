import type { KubeObject } from '../api-server/server.ts'
import { draw } from '../kubelet/delays.ts'
import { type Pod, condition } from '../kubelet/pod.ts'
import type { ControllerPorts } from './controller.ts'

const BY = 'node-controller'
/** It looks at all nodes so often. */
const MONITOR_MS = 1_000

/** Hears of nodes that cease to report, and of those that come back. */
export interface NodeLifecycle {
  /** A kubelet began or ceased to report. */
  onAlive(nodeName: string, isAlive: boolean): void
}

export interface NodeLifecycleOptions extends ControllerPorts {
  /** How long a node may be silent. */
  gracePeriodMs: number
  /** When the node may be told of at the earliest: never, while it reports. */
  instant: () => string
}

/**
 * A node that is silent for too long: its Ready becomes Unknown, and Ready of its pods False. Nothing else of the pods
 * is touched, ContainersReady and `containerStatuses` least of all.
 */
export function createNodeLifecycle(options: NodeLifecycleOptions): NodeLifecycle {
  const { clock, random, store, instant } = options
  const silent = new Map<string, unknown>()

  function setNode(nodeName: string, status: 'True' | 'Unknown', reason: string, by: string): void {
    store.update(
      'nodes',
      '',
      nodeName,
      (now) => {
        const conditions = ((now['status'] as { conditions?: NodeCondition[] } | undefined)?.conditions ?? []).map((one) =>
          one.type === 'Ready' ? { ...one, status, reason, lastTransitionTime: instant() } : one,
        )
        return { ...now, status: { ...(now['status'] as object), conditions } }
      },
      by,
    )
  }

  function late(nodeName: string): void {
    setNode(nodeName, 'Unknown', 'NodeStatusUnknown', BY)
    const pods = (store.list('pods') as Pod[]).filter(({ spec }) => spec.nodeName === nodeName)
    for (const pod of pods) clock.setTimeout(() => markNotReady(pod), draw(random, [5, 60]))
  }

  function markNotReady({ metadata }: KubeObject): void {
    store.update(
      'pods',
      metadata.namespace ?? 'default',
      metadata.name,
      (now) => {
        const pod = now as Pod
        if (pod.metadata.uid !== metadata.uid || condition(pod.status, 'Ready')?.status !== 'True') return undefined
        const conditions = pod.status!.conditions.map((one) =>
          one.type === 'Ready' ? { ...one, status: 'False' as const, lastTransitionTime: instant() } : one,
        )
        return { ...pod, status: { ...pod.status!, conditions } }
      },
      BY,
    )
  }

  return {
    onAlive(nodeName, isAlive) {
      if (!isAlive) {
        if (silent.has(nodeName)) return
        // The last report was up to a second ago, and so was the controller's look.
        const delayMs = options.gracePeriodMs + (random.next() - random.next()) * MONITOR_MS
        silent.set(
          nodeName,
          clock.setTimeout(() => late(nodeName), Math.max(delayMs, 0)),
        )
        return
      }
      if (!silent.has(nodeName)) return
      clock.clearTimeout(silent.get(nodeName))
      silent.delete(nodeName)
      clock.setTimeout(() => setNode(nodeName, 'True', 'KubeletReady', 'kubelet'), draw(random, [10, 1_000]))
    },
  }
}

interface NodeCondition {
  type: string
  status: string
  reason?: string
  lastTransitionTime?: string
}
