import type { Address, Call, Endpoint, Target } from '../../../adapters/contract.ts'
import { AdapterError, addressesOf } from '../../../adapters/contract.ts'
import type { JournalTarget, PodView } from '../../pods/glossary.ts'
import { hostAddresses, portsOf } from '../../pods/host-addresses.ts'
import type { Reason, ReasonOf } from '../../reasons/reason.ts'
import type { LoadBalancer } from '../request.ts'
import { CALL_LIFE_MS } from './scope-queues.ts'

/** The fields of a pod by which its targets are found. */
export type Listener = Pick<
  PodView,
  'uid' | 'name' | 'ip' | 'otherIps' | 'hostIps' | 'hostNetwork' | 'containers' | 'sidecarPorts'
>

export interface Place {
  loadBalancer: string
  target: Target
}

/** `lookedFor` has the searches without a result, for a pod that may be missing in load balancers. */
export type Found = { found: true; targets: Place[]; lookedFor?: LookedFor[] } | NotFound

export type LookedFor = ReasonOf<'no-entry-at' | 'pod-without-address' | 'no-port'>

export interface NotFound {
  found: false
  reason: Reason
  /** The load balancer has entries of the pod, although it did not resolve it. Such a pod is never accepted without targets. */
  isThere?: true
}

export interface Where {
  loadBalancers: readonly LoadBalancer[]
  /** Accept pods that are in none of the load balancers, with no targets. */
  allowUnbalanced: boolean
}

const call: Call = { deadlineMs: CALL_LIFE_MS, assertLive: () => {} }

/** Finds each pod in the load balancers, in the order of the pods. Throws an AdapterError where a load balancer cannot be asked. */
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
      // The pod is accepted without this load balancer. Its entries in the others are drained.
      if (allowUnbalanced && !resolution?.isThere) {
        if (before.found) found[index] = { ...before, lookedFor: [...(before.lookedFor ?? []), lookedForIn(name, one)] }
        return
      }
      const reason: Reason = one.ok ? { code: 'not-found', loadBalancer: name, said: resolution!.reason } : one.reason
      found[index] = { found: false, reason, ...(resolution?.isThere && { isThere: true }) }
    })
  }
  return found
}

function lookedForIn(loadBalancer: string, located: ReturnType<typeof endpointOf>): LookedFor {
  if (!located.ok) return located.reason
  return { code: 'no-entry-at', loadBalancer, addresses: addressesOf(located.endpoint).map(keyOf) }
}

/** A target without a recorded prior state, for a reading only. */
export function unrecorded({ loadBalancer, target: { id, scope } }: Place): JournalTarget {
  return { loadBalancer, target: id, scope, prior: null, untouched: false }
}

function endpointOf(
  pod: Listener,
  port: number | string,
): { ok: true; endpoint: Endpoint } | { ok: false; reason: ReasonOf<'pod-without-address' | 'no-port'> } {
  const { uid, name, ip, otherIps = [], hostIps = [], hostNetwork } = pod
  if (ip === undefined) return { ok: false, reason: { code: 'pod-without-address', pod: name } }
  const ports = portsOf(pod)
  const named = ports.filter((one) => (typeof port === 'number' ? one.port === port : one.name === port))
  const number = typeof port === 'number' ? port : named[0]?.port
  if (number === undefined) return { ok: false, reason: { code: 'no-port', pod: name, port: String(port) } }
  // The config may name the host port, at which the load balancer reaches the node.
  const meant = named.length > 0 ? named : ports.filter(({ host }) => host?.port === number)
  const others: Address[] = [
    ...otherIps.map((address) => ({ address, port: number })),
    ...(hostNetwork ? hostIps.map((address) => ({ address, port: number })) : []),
    ...meant.flatMap((one) => hostAddresses(one, pod)),
  ]
  const keys = new Set([keyOf({ address: ip, port: number })])
  const distinct = others.filter((one) => !keys.has(keyOf(one)) && keys.add(keyOf(one)))
  const endpoint = { uid, pod: name, address: ip, port: number }
  return { ok: true, endpoint: distinct.length === 0 ? endpoint : { ...endpoint, others: distinct } }
}

function keyOf({ address, port }: Address): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}
