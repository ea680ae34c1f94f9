import { readyOf } from '../endpoints/readiness.ts'
import type { StoredNode } from '../endpoints/stored.ts'
import type { Reason } from '../reasons/reason.ts'
import type { NodeExplanation } from './explanation.ts'
import type { Heartbeat } from './observed.ts'

/** Describes the node of a pod: its condition Ready, and its Lease. */
export function explainNode(
  node: StoredNode,
  heartbeat: Heartbeat | undefined,
): { explanation: NodeExplanation; reasons: Reason[] } {
  const { name } = node.metadata
  const found = readyOf(node)
  const since = found?.lastTransitionTime
  const stands = {
    status: found?.status ?? 'missing',
    ...(found?.reason ? { reason: found.reason } : {}),
    ...(since ? { since } : {}),
  }
  const reasons: Reason[] = []
  if (stands.status !== 'True') reasons.push({ code: 'node-not-ready', node: name, ...stands })
  if (heartbeat?.seen === 'silent') {
    const { renewedAt, watchedMs = 0 } = heartbeat
    reasons.push({ code: 'node-lease-not-renewed', node: name, ...(renewedAt === undefined ? {} : { renewedAt }), watchedMs })
  }
  if (node.spec?.unschedulable === true) reasons.push({ code: 'node-cordoned', node: name })
  const ready = { type: 'Ready', ...stands, ...(found?.message ? { message: found.message } : {}) }
  return { explanation: { name, ready, ...(heartbeat === undefined ? {} : { heartbeat }) }, reasons }
}
