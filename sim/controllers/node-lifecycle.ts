import type { KubeObject } from '../api-server/server.ts'
import { draw } from '../kubelet/delays.ts'
import { type Pod, condition } from '../kubelet/pod.ts'
import type { ControllerPorts } from './controller.ts'

const BY = 'node-controller'
/** The delay after the grace period until the controller next looks at all nodes. */
const NOTICE_MS = [200, 1_300] as const
/** The delay from the return of a kubelet until its node is Ready again. */
const REPORT_MS = [10, 1_000] as const

/** Takes the news about nodes that stop or resume to report. */
export interface NodeLifecycle {
  /** Tells that a kubelet has begun or ceased to report. */
  onAlive(nodeName: string, isAlive: boolean): void
}

export interface NodeLifecycleOptions extends ControllerPorts {
  /** The allowed silence of a node, read at the moment when the node falls silent. */
  gracePeriodMs: () => number
  instant: () => string
}

/**
 * Handles a node that is silent for too long: Ready of the node becomes Unknown, and Ready of its pods False. All other fields of the pods
 * stay, such as ContainersReady and `containerStatuses`.
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
    // Only a change of the node counts: pods of a node that was not Ready before keep their status.
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
