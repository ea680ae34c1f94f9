import { NODE_LEASES } from '../../endpoints/nodes.ts'
import { isReady, readyOf } from '../../endpoints/readiness.ts'
import { ageOf } from '../ages.ts'
import { type Check, needing, skippedFor, together } from '../check.ts'
import { type Finding, NODE_SETTLES_MS } from '../findings.ts'
import type { Gathered } from '../gathered.ts'
import { graceOf } from '../grace-period.ts'
import type { Event, Lease, Node } from '../objects.ts'

/** A difference above this is more than rounding: the clock of the node is ahead or behind. */
const APART_MS = 5_000

/**
 * Each node reports in time. The node controller sets the pods of a node to not ready once it is late by the grace period, so their
 * endpoints go away although the containers may run.
 */
export const heartbeats: Check = {
  name: 'heartbeats',
  examine(gathered) {
    const graceMs = graceOf(gathered)
    const { nodeLeases } = gathered.listed
    const noLeases = nodeLeases.ok && nodeLeases.value.length === 0
    return together(
      needing(gathered, ['nodes'], ({ nodes }) => nodes.flatMap((node) => notReady(node, gathered.nowAt))),
      noLeases
        ? skippedFor({ code: 'nothing-there', resource: 'leases', namespace: NODE_LEASES })
        : needing(gathered, ['nodes', 'nodeLeases'], (objects) => {
            const names = new Set(objects.nodes.map(({ metadata }) => metadata.name))
            const leases = objects.nodeLeases.filter(({ metadata }) => names.has(metadata.name))
            return [...shortGrace(leases, graceMs), ...leases.flatMap((lease) => heartbeat(lease, graceMs, gathered))]
          }),
      needing(gathered, ['nodes', 'nodeEvents'], ({ nodes, nodeEvents }) =>
        nodes.flatMap((node) => silences(node, nodeEvents, graceMs)),
      ),
    )
  },
}

function notReady(node: Node, nowAt: number): Finding[] {
  if (isReady(node)) return []
  const { name, creationTimestamp } = node.metadata
  const { status = 'missing', reason, lastTransitionTime } = readyOf(node) ?? {}
  // A node that has just joined starts its network first. The status Unknown belongs to a node that has reported, and is silent now.
  if (status !== 'Unknown' && (ageOf(creationTimestamp, nowAt) ?? Infinity) < NODE_SETTLES_MS) return []
  const forMs = ageOf(lastTransitionTime, nowAt)
  const since = forMs === undefined ? {} : { forMs: Math.max(0, forMs) }
  return [{ code: 'node-not-ready', node: name, status, ...(reason ? { reason } : {}), ...since }]
}

/**
 * A kubelet renews its Lease four times per Lease duration. In a shorter grace period, one late
 * heartbeat may be enough to lose the pods.
 */
function shortGrace(leases: readonly Lease[], graceMs: number): Finding[] {
  const longer = leases.filter(({ spec }) => (spec?.leaseDurationSeconds ?? 0) * 1_000 > graceMs)
  if (longer.length === 0) return []
  const leaseMs = Math.max(...longer.map(({ spec }) => (spec?.leaseDurationSeconds ?? 0) * 1_000))
  return [{ code: 'grace-period-short', graceMs, leaseMs, nodes: longer.map(({ metadata }) => metadata.name) }]
}

function heartbeat(
  { metadata: { name: node }, spec }: Lease,
  graceMs: number,
  { nowAt, readMs, secondLook }: Gathered,
): Finding[] {
  const ageMs = ageOf(spec?.renewTime, nowAt)
  if (ageMs === undefined) return []
  const aheadMs = -ageMs - readMs
  if (aheadMs > APART_MS) return [{ code: 'node-clock-ahead', node, aheadMs }]
  if (ageMs <= graceMs / 2) return []
  const again = secondLook?.ok ? secondLook.value.find(({ metadata }) => metadata.name === node)?.spec?.renewTime : undefined
  const isRenewed = again != null && again !== spec?.renewTime
  // A renewal after the first look is newer than `nowAt`. An older instant in it means that the clock of the node is behind.
  const behindMs = isRenewed ? (ageOf(again, nowAt) ?? 0) : 0
  if (behindMs > APART_MS) return [{ code: 'node-clock-behind', node, behindMs }]
  return [{ code: ageMs > graceMs && !isRenewed ? 'heartbeat-missed' : 'heartbeat-late', node, ageMs, graceMs }]
}

/** Reports past silences from the Events of a node that is Ready again. */
function silences(node: Node, events: readonly Event[], graceMs: number): Finding[] {
  const { name } = node.metadata
  const own = events.filter(
    ({ reason, involvedObject }) => reason === 'NodeNotReady' && involvedObject?.kind === 'Node' && involvedObject.name === name,
  )
  if (!isReady(node) || own.length === 0) return []
  const times = own.reduce((sum, { count }) => sum + (count ?? 1), 0)
  const lastAt = own
    .map(({ lastTimestamp, eventTime }) => lastTimestamp ?? eventTime ?? '')
    .sort()
    .at(-1)!
  return [{ code: 'node-was-silent', node: name, times, lastAt, graceMs }]
}
