import type { PodView } from './glossary.ts'

/** Why a pod does not count as ready, in words; undefined where it does. Decided from what is observed now. */
export function unready(pod: PodView, containers: readonly string[]): string | undefined {
  const waiting = pod.containers.filter(({ name, ready, running }) => containers.includes(name) && !(ready && running))
  if (waiting.length > 0) {
    return waiting
      .map(({ name, waitingReason }) => `container ${name} is not ready${waitingReason ? ` (${waitingReason})` : ''}`)
      .join(', ')
  }
  if (pod.ready) return undefined
  if (!pod.containersReady) return 'the pod is not Ready'
  if (pod.closedGates) return pod.closedGates.map(gateWords).join(', ')
  return pod.nodeIsSilent ? silentNode(pod) : 'Ready is False though all containers are'
}

/** The kubelet of such a node cannot carry out a patch until it reports again. */
export function silentNode({ node }: Pick<PodView, 'node'>): string {
  return `node ${node} does not report`
}

/** How a pod stands that is not ready, or is going, in a list of pods. */
export function standingWords(pod: PodView): string {
  if (pod.deletion) return deletionWords(pod.deletion)
  if (pod.closedGates && pod.containersReady) return `is not ready (${pod.closedGates.map(gateWords).join(', ')})`
  return pod.nodeIsSilent ? `is not ready (${silentNode(pod)})` : 'is not ready'
}

function gateWords({ type, status, message }: NonNullable<PodView['closedGates']>[number]): string {
  return `readiness gate ${type} is ${status}${message ? `: ${message}` : ''}`
}

export function deletionWords({ dueAt, finalizers }: NonNullable<PodView['deletion']>): string {
  return `is Terminating, due to be gone at ${dueAt}${finalizers.length === 0 ? '' : `, held by finalizers ${finalizers.join(', ')}`}`
}

/** Milliseconds for which the Ready of these containers proves nothing, since no probe has run; mostly 0. */
export function unprobedMs(pod: PodView, containers: readonly string[]): number {
  return Math.max(0, ...pod.containers.map((one) => (containers.includes(one.name) ? (one.unprobedMs ?? 0) : 0)))
}
