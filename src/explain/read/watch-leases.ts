import { NODE_LEASES } from '../../endpoints/nodes.ts'
import { leasePath } from '../../leases/lease.ts'
import type { KubeClient } from '../../kube/client.ts'
import { isNotFound } from '../../kube/errors.ts'
import { pause } from '../../kube/pause.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Heartbeat } from '../observed.ts'
import type { Attempts } from './attempts.ts'
import type { ExplainPorts } from './request.ts'
import { parseNodeLease, type NodeLease } from './node-lease.ts'

const LOOK_EVERY_MS = 1_000
/** A kubelet renews its Lease every quarter of the Lease duration, and may be a little late. */
const RENEWS_IN = 4
const LATE_MS = 2_000
const LONGEST_WATCH_MS = 20_000
/** The age that gives cause to watch a Lease. The age proves nothing, because it compares two clocks that may differ. */
const SUSPICIOUS_MS = 25_000

/** The Leases of nodes, by the name of the node. */
export type NodeLeases = Map<string, NodeLease>

export async function readLeases(nodes: readonly string[], client: KubeClient, attempts: Attempts): Promise<NodeLeases> {
  const read = await attempts.try({ what: 'leases', decides: false }, () =>
    Promise.all(nodes.map(async (node) => [node, await readLease(node, client)] as const)),
  )
  return new Map((read ?? []).flatMap(([node, lease]) => (lease === undefined ? [] : [[node, lease] as const])))
}

/**
 * Finds the last renewal of each Lease. Leases in `doubted`, and those that seem old, are watched until each is renewed once more, or
 * for as long as a working kubelet needs. `watchedMs` is by the clock of this process; `renewedAt` is by that of the node.
 */
export async function watchLeases(
  leases: NodeLeases,
  doubted: ReadonlySet<string>,
  { client, clock, signal, onWatching }: Pick<ExplainPorts, 'client' | 'clock' | 'signal' | 'onWatching'>,
): Promise<Map<string, Heartbeat>> {
  const beats = new Map(Array.from(leases, ([node, lease]): [string, Heartbeat] => [node, renewedAt(lease)]))
  const watched = new Map(Array.from(leases).filter(([node, lease]) => doubted.has(node) || seemsOld(lease, clock)))
  const since = clock.now()
  const longest = Math.max(0, ...Array.from(watched.values(), ({ durationMs }) => durationMs / RENEWS_IN + LATE_MS))
  const limitMs = Math.min(longest, LONGEST_WATCH_MS)
  if (watched.size > 0) onWatching?.({ nodes: [...watched.keys()], forMs: limitMs })
  while (watched.size > 0) {
    const watchedMs = Math.round(clock.now() - since)
    const isOver = watchedMs >= limitMs
    for (const [node, before] of watched) {
      const now = await readLease(node, client).catch(() => undefined)
      if (now === undefined) continue
      if (now.renewedAt !== before.renewedAt) {
        beats.set(node, { ...renewedAt(now), seen: 'renewed', watchedMs })
        watched.delete(node)
      } else if (isOver) beats.set(node, { ...renewedAt(now), seen: 'silent', watchedMs })
    }
    if (isOver) break
    await pause(clock, LOOK_EVERY_MS, signal)
    signal.throwIfAborted()
  }
  return beats
}

async function readLease(node: string, client: KubeClient): Promise<NodeLease | undefined> {
  try {
    return parseNodeLease(await client.get(leasePath(NODE_LEASES, node)))
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

function renewedAt({ renewedAt: at }: NodeLease): Heartbeat {
  return at === undefined ? {} : { renewedAt: at }
}

function seemsOld({ renewedAt: at }: NodeLease, clock: Clock): boolean {
  return at === undefined || Math.abs(clock.wallNow() - Date.parse(at)) > SUSPICIOUS_MS
}
