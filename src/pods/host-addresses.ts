import type { ContainerPort, PodView } from './glossary.ts'

type Listener = Pick<PodView, 'containers' | 'sidecarPorts' | 'hostIps'>

export function portsOf({ containers, sidecarPorts = [] }: Pick<Listener, 'containers' | 'sidecarPorts'>): ContainerPort[] {
  return [...containers.flatMap(({ ports }) => ports), ...sidecarPorts]
}

/** The addresses of the node that lead to one port of the pod. No two pods of a node have the same host port at the same time. */
export function hostAddresses(
  { host }: ContainerPort,
  { hostIps = [] }: Pick<Listener, 'hostIps'>,
): { address: string; port: number }[] {
  if (host === undefined) return []
  return (host.ip === undefined ? hostIps : [host.ip]).map((address) => ({ address, port: host.port }))
}

/**
 * True if both are reached by the same address of their node. A replacement may have this address in common with its predecessor while its
 * pod address differs.
 */
export function sharesHostAddress(a: Listener, b: Listener): boolean {
  const taken = new Set(keysOf(a))
  return taken.size > 0 && keysOf(b).some((key) => taken.has(key))
}

export function keysOf(pod: Listener): string[] {
  return portsOf(pod).flatMap((one) => hostAddresses(one, pod).map(({ address, port }) => `${address} ${port}`))
}
