import type { PodAccount } from '../../journal/account.ts'
import type { NeedsOperator } from './status.ts'

/** The reason and the advice of the process that ended with the pod. */
export function needsOperator({ reason, advice = [] }: PodAccount): NeedsOperator {
  return { ...(reason === undefined ? {} : { reason }), advice }
}
