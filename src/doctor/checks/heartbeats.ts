import { NODE_LEASES } from '../../endpoints/nodes.ts'
import { isReady, readyOf } from '../../endpoints/readiness.ts'
import { ageOf, goDurationMs } from '../ages.ts'
import { type Check, needing, skippedFor, together } from '../check.ts'
import { type Finding, NODE_SETTLES_MS } from '../findings.ts'
import type { Gathered } from '../gathered.ts'
import type { Event, Lease, Node, Pod } from '../objects.ts'

/** For so long may a node be silent unless the controller manager is told otherwise: 50 s since 1.32. */
const GRACE_MS = 50_000
const FORMER_GRACE_MS = 40_000
const GRACE_SINCE = 32
const GRACE_FLAG = '--node-monitor-grace-period'
/** A renewal that is stamped so far ahead of the API server is no rounding. */
const AHEAD_MS = 5_000

/**
 * Each node reports in time. The pods of a node that is late by the grace period are set to not ready, whatever runs on it: their endpoints
 * go, and come back.
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
        : needing(gathered, ['nodes', 'nodeLeases'], (objects) =>
            objects.nodeLeases.flatMap((lease) =>
              objects.nodes.some(({ metadata }) => metadata.name === lease.metadata.name)
                ? heartbeat(lease, graceMs, gathered)
                : [],
            ),
          ),
      needing(gathered, ['nodes', 'nodeEvents'], ({ nodes, nodeEvents }) =>
        nodes.flatMap((node) => silences(node, nodeEvents, graceMs)),
      ),
    )
  },
}

function notReady(node: Node, nowAt: number): Finding[] {
  const { name, creationTimestamp } = node.metadata
  // One that has just joined starts its network first.
  if (isReady(node) || (ageOf(creationTimestamp, nowAt) ?? Infinity) < NODE_SETTLES_MS) return []
  const { status = 'Unknown', reason, lastTransitionTime } = readyOf(node) ?? {}
  const forMs = ageOf(lastTransitionTime, nowAt)
  const since = forMs === undefined ? {} : { forMs: Math.max(0, forMs) }
  return [{ code: 'node-not-ready', node: name, status, ...(reason ? { reason } : {}), ...since }]
}

function heartbeat({ metadata: { name: node }, spec }: Lease, graceMs: number, { nowAt, readMs }: Gathered): Finding[] {
  const ageMs = ageOf(spec?.renewTime, nowAt)
  if (ageMs === undefined) return []
  const aheadMs = -ageMs - readMs
  if (aheadMs > AHEAD_MS) return [{ code: 'node-clock-ahead', node, aheadMs }]
  if (ageMs > graceMs) return [{ code: 'heartbeat-missed', node, ageMs, graceMs }]
  return ageMs > graceMs / 2 ? [{ code: 'heartbeat-late', node, ageMs, graceMs }] : []
}

/** Of a node that is Ready again. */
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

/** As the controller manager is told, where it runs as a pod that can be seen. */
function graceOf({ listed: { controllerManagers }, server }: Gathered): number {
  const told = controllerManagers.ok ? controllerManagers.value.flatMap(toldGrace) : []
  if (told.length > 0) return Math.min(...told)
  const minor = server.ok ? (server.value.minor ?? GRACE_SINCE) : GRACE_SINCE
  return minor >= GRACE_SINCE ? GRACE_MS : FORMER_GRACE_MS
}

function toldGrace({ spec: { containers } }: Pod): number[] {
  const words = containers.flatMap((one) => {
    const { command = [], args = [] } = one as { command?: string[]; args?: string[] }
    return [...command, ...args]
  })
  return words.flatMap((word, index) => {
    const text =
      word === GRACE_FLAG ? words[index + 1] : word.startsWith(`${GRACE_FLAG}=`) ? word.slice(GRACE_FLAG.length + 1) : undefined
    const ms = text === undefined ? undefined : goDurationMs(text)
    return ms === undefined ? [] : [ms]
  })
}
