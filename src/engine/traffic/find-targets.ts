import type { Call, Endpoint, Target } from '../../../adapters/contract.ts'
import { AdapterError } from '../../../adapters/contract.ts'
import type { JournalTarget, PodView } from '../../pods/glossary.ts'
import type { LoadBalancer } from '../request.ts'
import { CALL_LIFE_MS } from './balancers.ts'

/** A pod where its targets are looked for. */
export type Listener = Pick<PodView, 'uid' | 'name' | 'ip' | 'otherIps' | 'containers' | 'sidecarPorts'>

export interface Place {
  loadBalancer: string
  target: Target
}

export type Found = { found: true; targets: Place[] } | { found: false; reason: string }

export interface Where {
  loadBalancers: readonly LoadBalancer[]
  /** Pods in none of the load balancers are let through, with no targets. */
  allowUnbalanced: boolean
}

const call: Call = { deadlineMs: CALL_LIFE_MS, assertLive: () => {} }

/** Where each pod is in the load balancers, in the order of the pods. Throws an AdapterError where one cannot be asked. */
export async function findTargets({ loadBalancers, allowUnbalanced }: Where, pods: readonly Listener[]): Promise<Found[]> {
  const found: Found[] = pods.map(() => ({ found: true, targets: [] }))
  for (const { name, adapter, port } of loadBalancers) {
    const located = pods.map((pod) => endpointOf(pod, port))
    const asked = located.flatMap((one, index) => (one.ok ? [{ ...one.endpoint, index }] : []))
    const resolutions = asked.length === 0 ? [] : await adapter.resolve(asked, call)
    if (resolutions.length !== asked.length)
      throw new AdapterError('engine', 'fatal', `${name} answered for ${resolutions.length} of ${asked.length} pods`)
    const answers = new Map(asked.map(({ index }, place) => [index, resolutions[place]!]))
    located.forEach((one, index) => {
      const resolution = answers.get(index)
      const before = found[index]!
      if (resolution?.found) {
        if (before.found) before.targets.push(...resolution.targets.map((target) => ({ loadBalancer: name, target })))
        return
      }
      // Let through without this load balancer; what the others have of it is drained all the same.
      if (allowUnbalanced && !resolution?.isThere) return
      found[index] = { found: false, reason: one.ok ? `${name}: ${resolution!.reason}` : one.reason }
    })
  }
  return found
}

/** To be asked for as it is, with no record of what it was. */
export function unrecorded({ loadBalancer, target: { id, scope } }: Place): JournalTarget {
  return { loadBalancer, target: id, scope, prior: null, untouched: false }
}

function endpointOf(
  { uid, name, ip, otherIps, containers, sidecarPorts = [] }: Listener,
  port: number | string,
): { ok: true; endpoint: Endpoint } | { ok: false; reason: string } {
  if (ip === undefined) return { ok: false, reason: `${name} has no address yet` }
  const ports = [...containers.flatMap((container) => container.ports), ...sidecarPorts]
  const number = typeof port === 'number' ? port : ports.find((one) => one.name === port)?.port
  if (number === undefined) return { ok: false, reason: `no container of ${name} has a port named "${port}"` }
  return { ok: true, endpoint: { uid, pod: name, address: ip, ...(otherIps ? { otherAddresses: otherIps } : {}), port: number } }
}
