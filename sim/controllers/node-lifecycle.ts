import type { KubeObject } from '../api-server/server.ts'
import { draw } from '../kubelet/delays.ts'
import { type Pod, condition } from '../kubelet/pod.ts'
import type { ControllerPorts } from './controller.ts'

const BY = 'node-controller'
/** Beyond the grace period, until the controller's next look at all nodes. */
const NOTICE_MS = [200, 1_300] as const
/** From a kubelet that goes on until its node is Ready again. */
const REPORT_MS = [10, 1_000] as const

/** Hears of nodes that cease to report, and of those that come back. */
export interface NodeLifecycle {
  /** A kubelet began or ceased to report. */
  onAlive(nodeName: string, isAlive: boolean): void
}

export interface NodeLifecycleOptions extends ControllerPorts {
  /** How long a node may be silent, at the moment when it falls silent. */
  gracePeriodMs: () => number
  instant: () => string
}

/**
 * A node that is silent for too long: its Ready becomes Unknown, and Ready of its pods False. Nothing else of the pods
 * is touched, ContainersReady and `containerStatuses` least of all.
 */
export function createNodeLifecycle(options: NodeLifecycleOptions): NodeLifecycle {
  const { clock, random, store, instant } = options
  const nodes = new Map<string, { timer: unknown; wasAlive: boolean }>()

  function setNode(nodeName: string, status: 'True' | 'Unknown', reason: string, by: string): void {
    store.update(
      'nodes',
      '',
      nodeName,
      (now) => {
        const conditions = ((now['status'] as { conditions?: NodeCondition[] } | undefined)?.conditions ?? []).map((one) =>
          one.type === 'Ready' && one.status !== status ? { ...one, status, reason, lastTransitionTime: instant() } : one,
        )
        return { ...now, status: { ...(now['status'] as object), conditions } }
      },
      by,
    )
  }

  function late(nodeName: string): void {
    // Only the change counts: pods of a node that was not Ready before keep what they have.
    if (!isReported(store.get('nodes', '', nodeName))) return
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
      const { timer, wasAlive = true } = nodes.get(nodeName) ?? {}
      if (wasAlive === isAlive) return
      clock.clearTimeout(timer)
      const next = isAlive
        ? clock.setTimeout(() => setNode(nodeName, 'True', 'KubeletReady', 'kubelet'), draw(random, REPORT_MS))
        : clock.setTimeout(() => late(nodeName), options.gracePeriodMs() + draw(random, NOTICE_MS))
      nodes.set(nodeName, { timer: next, wasAlive: isAlive })
    },
  }
}

function isReported(node: KubeObject | undefined): boolean {
  const { conditions = [] } = (node?.['status'] ?? {}) as { conditions?: NodeCondition[] }
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
}

interface NodeCondition {
  type: string
  status: string
  reason?: string
  lastTransitionTime?: string
}
