import { isReady } from '../endpoints/readiness.ts'
import type { KubeClient } from '../kube/client.ts'
import { pause } from '../kube/pause.ts'
import type { Clock } from '../ports/clock.ts'
import { ageOf } from './ages.ts'
import type { Gathered, Listed } from './gathered.ts'
import { graceOf } from './grace-period.ts'
import type { Lease } from './objects.ts'
import { listKind } from './read-objects.ts'

/** A kubelet renews its Lease every quarter of the Lease duration, and may be a little late. */
const RENEWS_IN = 4
const LATE_MS = 2_000
const LONGEST_WAIT_MS = 20_000
/** The default Lease duration of a kubelet. */
const LEASE_SECONDS = 40

interface Ports {
  /** The client must read anew at each call. */
  client: KubeClient
  clock: Clock
  signal?: AbortSignal
}

/**
 * Lists the Leases again where a Ready node seems late, after the time that a kubelet needs to renew one. The node stamps a renewal by
 * its own clock, so only a second look tells a clock that is behind from a silent kubelet. Undefined where no node seems late.
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

/** Leaves out nodes that are not Ready, because their condition is a finding already. */
function lateLeases({ listed, server, nowAt }: Pick<Gathered, 'listed' | 'server' | 'nowAt'>): Lease[] {
  const { nodes, nodeLeases } = listed
  if (!nodes.ok || !nodeLeases.ok) return []
  const ready = new Set(nodes.value.filter(isReady).map(({ metadata }) => metadata.name))
  const lateMs = graceOf({ listed, server }) / 2
  return nodeLeases.value.filter(
    ({ metadata, spec }) => ready.has(metadata.name) && (ageOf(spec?.renewTime, nowAt) ?? 0) > lateMs,
  )
}
