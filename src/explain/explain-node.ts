import type { Reason } from '../reasons/reason.ts'
import type { NodeExplanation } from './explanation.ts'
import type { Heartbeat, ObservedNode } from './observed.ts'

/** How the node of a pod stands: its condition Ready, and its Lease. */
export function explainNode(
  { metadata: { name }, spec, status }: ObservedNode,
  heartbeat: Heartbeat | undefined,
): { explanation: NodeExplanation; reasons: Reason[] } {
  const found = status?.conditions?.find(({ type }) => type === 'Ready')
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
  if (spec?.unschedulable === true) reasons.push({ code: 'node-cordoned', node: name })
  const ready = { type: 'Ready', ...stands, ...(found?.message ? { message: found.message } : {}) }
  return { explanation: { name, ready, ...(heartbeat === undefined ? {} : { heartbeat }) }, reasons }
}
