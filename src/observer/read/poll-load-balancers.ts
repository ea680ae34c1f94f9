import { AdapterError, type Call } from '../../../adapters/contract.ts'
import { reasonOf } from '../../engine/errors.ts'
import type { LoadBalancer } from '../../engine/request.ts'
import { findTargets } from '../../engine/traffic/find-targets.ts'
import { CALL_LIFE_MS } from '../../engine/traffic/scope-queues.ts'
import { pause } from '../../kube/pause.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LoadBalancerEvent, SeenEntry } from '../events.ts'
import type { Listener } from './records.ts'

export type UnstampedEntry = LoadBalancerEvent extends infer One
  ? One extends LoadBalancerEvent
    ? Omit<One, 'at' | 'loadBalancer'>
    : never
  : never

const call: Call = { deadlineMs: CALL_LIFE_MS, assertLive: () => {} }

export interface PollPorts {
  clock: Clock
  signal: AbortSignal
  everyMs: number
  listeners(): Listener[]
  emit(event: UnstampedEntry): void
}

/** Reads all entries of a load balancer every `everyMs`, and emits those that have changed. Resolves after the signal. */
export async function pollLoadBalancer(
  loadBalancer: LoadBalancer,
  { clock, signal, everyMs, listeners, emit }: PollPorts,
): Promise<void> {
  const known = new Map<string, string>()
  let isRead: boolean | undefined
  while (!signal.aborted) {
    try {
      const entries = await readEntries(loadBalancer, listeners())
      if (signal.aborted) return
      for (const id of known.keys()) {
        if (entries.has(id)) continue
        known.delete(id)
        emit({ type: 'entry-gone', id })
      }
      for (const [id, entry] of entries) {
        const content = JSON.stringify(entry)
        if (known.get(id) === content) continue
        known.set(id, content)
        emit({ type: 'entry', entry })
      }
      if (isRead !== true) emit({ type: 'load-balancer-read' })
      isRead = true
    } catch (error) {
      if (!(error instanceof AdapterError)) throw error
      if (signal.aborted) return
      if (isRead !== false) emit({ type: 'load-balancer-unread', because: reasonOf(error) })
      isRead = false
    }
    await pause(clock, everyMs, signal)
  }
}

/** Returns the entries that the load balancer lists, and the entries of the pods, for which it is asked. */
async function readEntries(loadBalancer: LoadBalancer, pods: readonly Listener[]): Promise<Map<string, SeenEntry>> {
  const { adapter, port } = loadBalancer
  const listed = await adapter.entries?.(call)
  const entries = new Map(
    (listed ?? []).map(({ id, address, port: own, admin }): [string, SeenEntry] => [
      id,
      { id, address, port: own, admin: admin ?? 'unknown' },
    ]),
  )
  const addresses = new Set((listed ?? []).map(({ address }) => address))
  const asked = pods.filter(
    ({ ip, otherIps = [], hostIps = [] }) =>
      ip !== undefined && (listed === undefined || [ip, ...otherIps, ...hostIps].some((one) => addresses.has(one))),
  )
  if (asked.length === 0) return entries
  const found = await findTargets({ loadBalancers: [loadBalancer], allowUnbalanced: false }, asked)
  const targets = found.flatMap((one, index) =>
    one.found ? one.targets.map(({ target }) => ({ target, ip: asked[index]!.ip! })) : [],
  )
  if (targets.length === 0) return entries
  const observed = await adapter.inspect(
    targets.map(({ target }) => target),
    call,
  )
  for (const { target, ip } of targets) {
    const observation = observed.get(target.id)
    if (observation === undefined || observation.admin === 'absent') entries.delete(target.id)
    else {
      const { admin, routable } = observation
      const own = entries.get(target.id) ?? { id: target.id, address: ip, port: typeof port === 'number' ? port : 0 }
      entries.set(target.id, { ...own, admin, ...(admin === 'unknown' ? {} : { isRoutable: routable }) })
    }
  }
  return entries
}
