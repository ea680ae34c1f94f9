import type { ContainerPort, PodView } from './glossary.ts'

type Listener = Pick<PodView, 'containers' | 'sidecarPorts' | 'hostIps'>

export function portsOf({ containers, sidecarPorts = [] }: Pick<Listener, 'containers' | 'sidecarPorts'>): ContainerPort[] {
  return [...containers.flatMap(({ ports }) => ports), ...sidecarPorts]
}

/** Where the pod's node takes connections for one of its ports. No other pod of the node has the same host port at that time. */
export function hostAddresses(
  { host }: ContainerPort,
  { hostIps = [] }: Pick<Listener, 'hostIps'>,
): { address: string; port: number }[] {
  if (host === undefined) return []
  return (host.ip === undefined ? hostIps : [host.ip]).map((address) => ({ address, port: host.port }))
}

/** Both are reached at an address of their node: a pod in the place of another may have the same one, with another address of its own. */
export function sharesHostAddress(a: Listener, b: Listener): boolean {
  const taken = new Set(keysOf(a))
  return taken.size > 0 && keysOf(b).some((key) => taken.has(key))
}

export function keysOf(pod: Listener): string[] {
  return portsOf(pod).flatMap((one) => hostAddresses(one, pod).map(({ address, port }) => `${address} ${port}`))
}
