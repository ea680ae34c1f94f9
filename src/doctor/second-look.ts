import { isReady } from '../endpoints/readiness.ts'
import type { KubeClient } from '../kube/client.ts'
import { pause } from '../kube/pause.ts'
import type { Clock } from '../ports/clock.ts'
import { ageOf } from './ages.ts'
import type { Gathered, Listed } from './gathered.ts'
import { graceOf } from './grace-period.ts'
import type { Lease } from './objects.ts'
import { listKind } from './read-objects.ts'

/** A kubelet renews its Lease in a quarter of its duration, and may be a little late. */
const RENEWS_IN = 4
const LATE_MS = 2_000
const LONGEST_WAIT_MS = 20_000
/** As the kubelet has it unless it is told another one. */
const LEASE_SECONDS = 40

interface Ports {
  /** Reads anew each time. */
  client: KubeClient
  clock: Clock
  signal?: AbortSignal
}

/**
 * A renewal is stamped by the clock of the node. Where a node that is Ready seems to be late, the Leases are read once more after as long as a
 * kubelet takes to renew one: a clock that is behind is told from a kubelet that is silent. Undefined where no node gives cause.
 */
export async function lookAgain(
  gathered: Pick<Gathered, 'listed' | 'server' | 'nowAt'>,
  { client, clock, signal }: Ports,
): Promise<Listed<Lease> | undefined> {
  const late = lateLeases(gathered)
  if (late.length === 0) return undefined
  const durationsMs = late.map(({ spec }) => (spec?.leaseDurationSeconds ?? LEASE_SECONDS) * 1_000)
  const longestMs = durationsMs.reduce((longest, ms) => Math.max(longest, ms), 0)
  await pause(clock, Math.min(longestMs / RENEWS_IN + LATE_MS, LONGEST_WAIT_MS), signal)
  return listKind(client, 'nodeLeases')
}

/** Of a node that is not Ready its condition tells. */
function lateLeases({ listed, server, nowAt }: Pick<Gathered, 'listed' | 'server' | 'nowAt'>): Lease[] {
  const { nodes, nodeLeases } = listed
  if (!nodes.ok || !nodeLeases.ok) return []
  const ready = new Set(nodes.value.filter(isReady).map(({ metadata }) => metadata.name))
  const lateMs = graceOf({ listed, server }) / 2
  return nodeLeases.value.filter(
    ({ metadata, spec }) => ready.has(metadata.name) && (ageOf(spec?.renewTime, nowAt) ?? 0) > lateMs,
  )
}
