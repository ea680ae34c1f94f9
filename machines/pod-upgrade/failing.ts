import { and } from 'xstate'
import type { Deadline } from './context.ts'
import type { EndingReason } from './reasons.ts'

/**
 * Where a patched pod fails: back to its former images, once, where the run says so; else it stays out of rotation.
 * Over what was decided before: a rollback that fails is a failure.
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
