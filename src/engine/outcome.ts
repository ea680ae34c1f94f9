import type { OverlookedPod } from '../reasons/run-reasons.ts'
import { several } from '../reasons/several.ts'
import type { Reason } from '../reasons/reason.ts'
import type { PodResult, RunOutcome } from './events.ts'

interface Ending {
  outcome: RunOutcome
  reason: Reason
}

/**
 * The outcome of a run: the worst outcome of its pods, in the order of the exit codes. `stays` reports for the uid of a pod that the run
 * asks nothing of it, whatever its images are.
 */
export function worstOutcome(pods: readonly PodResult[], stays: (uid: string) => boolean = () => false): Ending {
  const of = (outcome: PodResult['outcome']): PodResult[] => pods.filter((pod) => pod.outcome === outcome)
  const needsOperator = of('needsOperator')
  if (needsOperator.length > 0) return { outcome: 'needsOperator', reason: say(needsOperator) }
  const conflict = of('conflict')
  if (conflict.length > 0) return { outcome: 'conflict', reason: say(conflict) }
  // A pod that failed and then went counts as failed: its deletion repairs nothing, and the next pod would fail too.
  const failed = pods.filter((pod) => pod.outcome === 'failed' || hasFailedAndGone(pod))
  // A drain that was late and was undone breaks nothing, and the same command tries again.
  const late = failed.filter(({ deadline, traffic }) => deadline === 'drain' && traffic !== 'out')
  if (failed.length > late.length) return { outcome: 'failed', reason: say(failed) }
  const rolledBack = of('rolledBack')
  if (rolledBack.length > 0) return { outcome: 'rolledBack', reason: say(rolledBack) }
  if (late.length > 0) return { outcome: 'deadline', reason: say(late) }
  const interrupted = of('interrupted')
  if (interrupted.length > 0) return { outcome: 'interrupted', reason: say(interrupted) }
  // None of these pods tells the reason: the pod for which the run stopped is gone.
  const unchanged = of('unchanged')
  if (unchanged.length > 0) return { outcome: 'failed', reason: say(unchanged) }
  const { left = [], already = [] } = Object.groupBy(of('skipped'), ({ uid }) => (stays(uid) ? 'left' : 'already'))
  const upgraded = of('upgraded').length
  return { outcome: 'done', reason: { code: 'counts', upgraded, already: already.length, left: left.length } }
}

function say(some: readonly PodResult[]): Reason {
  const pods = some.map((result) => {
    const { uid, pod, reason, before } = result
    return { uid, pod, reason, ...(before && hasFailedAndGone(result) ? { failed: before.reason } : {}) }
  })
  return { code: 'pods', pods }
}

/** A pod with one of these outcomes may be drained, whatever its journal says. */
export const UNSETTLED: ReadonlySet<PodResult['outcome']> = new Set(['needsOperator', 'interrupted', 'conflict'])

/** A pod with one of these outcomes runs the wanted images, or is gone. */
const BROUGHT: ReadonlySet<PodResult['outcome']> = new Set(['upgraded', 'skipped', 'settled'])

/**
 * Reports whether a pod needs no more work of this run. A pod that failed or was rolled back has ended, and does not run the wanted images:
 * the same run goes on with it. So does a pod that went on its way to such an end, since its replacement may run any images.
 */
export function isBrought(pod: Pick<PodResult, 'outcome' | 'before'>): boolean {
  return BROUGHT.has(pod.outcome) && !hasFailedAndGone(pod)
}

export function hasFailedAndGone({ outcome, before }: Pick<PodResult, 'outcome' | 'before'>): boolean {
  return outcome === 'settled' && before !== undefined
}

/** Adds the pods that the run leaves as they are to its outcome. Their targets may be drained, and no process looks after them. */
export function withOverlooked({ outcome, reason }: Ending, pods: readonly OverlookedPod[]): Ending {
  const left: Reason = { code: 'overlooked', pods: [...pods] }
  if (outcome === 'done' || outcome === 'aborted') return { outcome: 'failed', reason: left }
  return { outcome, reason: several(reason, left) }
}

/**
 * The outcome of an abort whose record could not be closed. The run stays open, and the order stands, unless another process has ended the
 * run.
 */
export function withOpenRecord({ outcome, reason }: Ending, { trouble, as }: { trouble: Reason; as: RunOutcome }): Ending {
  const left = { code: 'run-not-ended', because: trouble } as const
  if (outcome === 'aborted') return { outcome: as, reason: left }
  return { outcome, reason: several(reason, left) }
}

/**
 * The outcome of an abort. Pods that were restored, refused or brought home fulfil the abort; pods that stay out or need an operator do
 * not. `takesOver`: the run is another process's, and `pods` are only those that it left open. `isOnNew` reports by uid whether a pod runs
 * the new images of the aborted run.
 */
export function endingOfAbort(
  pods: readonly PodResult[],
  { by, takesOver, isOnNew }: { by: string; takesOver: boolean; isOnNew(uid: string): boolean },
): Ending {
  const unfinished = pods.filter(isUnfinished)
  if (unfinished.length > 0) return worstOutcome(unfinished)
  const upgraded = pods.filter(({ outcome }) => outcome === 'upgraded').length
  const others = pods.filter(({ outcome }) => outcome === 'unchanged' || outcome === 'rolledBack' || outcome === 'failed')
  const kept = others.filter(({ uid }) => isOnNew(uid)).length
  const open = takesOver ? { open: pods.length } : {}
  const reason = { code: 'aborted', by, upgraded: upgraded + kept, old: others.length - kept, ...open } as const
  return { outcome: 'aborted', reason }
}

/** Reports whether the pod is out of rotation, or its record is open, or its state is not known. */
export function isUnfinished({ traffic, record, outcome }: PodResult): boolean {
  return traffic === 'out' || record === 'unclosed' || UNSETTLED.has(outcome)
}
