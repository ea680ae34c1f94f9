import type { PodAccount } from '../../journal/account.ts'
import type { NeedsOperator } from './status.ts'

/** What the process that ended with the pod has said of it. */
export function needsOperator({ reason, advice = [] }: PodAccount): NeedsOperator {
  return { ...(reason === undefined ? {} : { reason }), advice }
}
