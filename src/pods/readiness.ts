import type { Reason, ReasonOf } from '../reasons/reason.ts'
import type { PodView } from './glossary.ts'

/** The reason why a pod does not count as ready, from its observed state; undefined for a ready pod. */
export function unready(pod: PodView, containers: readonly string[]): Reason | undefined {
  const waiting = pod.containers.filter(({ name, ready, running }) => containers.includes(name) && !(ready && running))
  if (waiting.length > 0) {
    return {
      code: 'containers-not-ready',
      containers: waiting.map(({ name, waitingReason }) => ({ name, ...(waitingReason && { waiting: waitingReason }) })),
    }
  }
  if (pod.ready) return undefined
  if (!pod.containersReady) return { code: 'pod-not-ready' }
  if (pod.closedGates) return { code: 'readiness-gates-closed', gates: pod.closedGates }
  return pod.nodeIsSilent ? nodeSilent(pod) : { code: 'ready-condition-false' }
}

/** The state of a pod that is not ready or is terminating. */
export function standing(pod: PodView): ReasonOf<'terminating' | 'readiness-gates-closed' | 'node-silent' | 'pod-not-ready'> {
  if (pod.deletion) return { code: 'terminating', ...pod.deletion }
  if (pod.closedGates && pod.containersReady) return { code: 'readiness-gates-closed', gates: pod.closedGates }
  return pod.nodeIsSilent ? nodeSilent(pod) : { code: 'pod-not-ready' }
}

/** A silent node: its kubelet does not carry out a patch until it reports again. */
function nodeSilent({ node }: PodView): ReasonOf<'node-silent'> {
  return { code: 'node-silent', ...(node === undefined ? {} : { node }) }
}

/** The node of the pod, if its kubelet does not report. */
export function silentNodeOf({ nodeIsSilent, node = '' }: PodView): { silentNode?: string } {
  return nodeIsSilent ? { silentNode: node } : {}
}

/** Milliseconds for which the readiness of these containers proves nothing, because no probe has run. Usually 0. */
export function unprobedMs(pod: PodView, containers: readonly string[]): number {
  return Math.max(0, ...pod.containers.map((one) => (containers.includes(one.name) ? (one.unprobedMs ?? 0) : 0)))
}
