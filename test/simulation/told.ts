import type { PodStatus } from '../../src/engine/status/status.ts'
import type { Reason } from '../../src/reasons/reason.ts'
import type { PodResult } from '../../src/engine/events.ts'
import { adviceLines } from '../../src/report/words/advice.ts'
import { podReason } from '../../src/report/words/events.ts'
import { createWriting } from '../../src/report/words/words.ts'

/** The end of a pod, as the user is told it. */
export interface ToldPod extends Omit<PodResult, 'reason' | 'advice'> {
  reason: string
  instructions: string
  out: boolean
  leftOut?: true
}

const write = createWriting()

export function toldPod(result: PodResult): ToldPod {
  const { advice, traffic } = result
  return {
    ...result,
    reason: podReason(result, write),
    instructions: advice.flatMap((one) => adviceLines(one, write)).join('\n'),
    out: traffic === 'out',
    ...(traffic === 'leftOut' ? { leftOut: true } : {}),
  }
}

/** Returns the words for the condition that the pod of this event waits for. */
export function waitWords({ waiting }: { waiting?: Reason }): string[] {
  return waiting === undefined ? [] : [write.reason(waiting)]
}

/** Returns the words in which `sluice status` asks an operator. Undefined where it asks nothing. */
export function askedWords({ needsOperator }: Pick<PodStatus, 'needsOperator'>): string | undefined {
  if (needsOperator === undefined) return undefined
  const { reason, advice } = needsOperator
  const lines = advice.flatMap((one) => adviceLines(one, write))
  return lines.length > 0 || reason === undefined ? lines.join('\n') : write.reason(reason)
}
