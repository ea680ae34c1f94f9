import { and } from 'xstate'
import type { Deadline } from './context.ts'
import type { EndingReason } from './reasons.ts'

/**
 * The transitions of a patched pod that fails. The pod goes back to its former images, once, where the run has that option; otherwise it
 * stays out of rotation. The failure replaces an earlier outcome: a rollback that fails is a failure.
 */
export function failing(reason: EndingReason, deadline?: Deadline) {
  const why = { reason, ...(deadline ? { deadline } : {}) }
  return [
    {
      guard: and(['rollsBack', 'hasFormerImages']),
      target: '#pod.rollingBack',
      actions: { type: 'overrule', params: { outcome: 'rolledBack', ...why } },
    },
    { target: '#pod.failed', actions: { type: 'overrule', params: { outcome: 'failed', ...why } } },
  ] as const
}
