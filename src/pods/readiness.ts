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
  return pod.containersReady
    ? 'Ready is False though all containers are: a late node heartbeat or a readiness gate'
    : 'the pod is not Ready'
}

/** Milliseconds for which the Ready of these containers proves nothing, since no probe has run; mostly 0. */
export function unprobedMs(pod: PodView, containers: readonly string[]): number {
  return Math.max(0, ...pod.containers.map((one) => (containers.includes(one.name) ? (one.unprobedMs ?? 0) : 0)))
}
