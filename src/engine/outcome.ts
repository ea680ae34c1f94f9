import type { OverlookedPod } from '../reasons/run-reasons.ts'
import { several } from '../reasons/several.ts'
import type { Reason } from '../reasons/reason.ts'
import type { PodResult, RunOutcome } from './events.ts'

interface Ending {
  outcome: RunOutcome
  reason: Reason
}

/**
 * How a run ended, from how its pods did: the worst of them, in the order of the exit codes that a pipeline acts on. `stays`: of a
 * pod, by its uid, that nothing is asked of it, on whatever images it is.
 */
export function worstOutcome(pods: readonly PodResult[], stays: (uid: string) => boolean = () => false): Ending {
  const of = (outcome: PodResult['outcome']): PodResult[] => pods.filter((pod) => pod.outcome === outcome)
  const needsOperator = of('needsOperator')
  if (needsOperator.length > 0) return { outcome: 'needsOperator', reason: say(needsOperator) }
  const conflict = of('conflict')
  if (conflict.length > 0) return { outcome: 'conflict', reason: say(conflict) }
  // A pod that failed and went has mended nothing: the next pod would fail too.
  const failed = pods.filter((pod) => pod.outcome === 'failed' || hasFailedAndGone(pod))
  // A drain that did not come to its end in time and was undone: nothing is broken, and the same command tries again.
  const late = failed.filter(({ deadline, traffic }) => deadline === 'drain' && traffic !== 'out')
  if (failed.length > late.length) return { outcome: 'failed', reason: say(failed) }
  const rolledBack = of('rolledBack')
  if (rolledBack.length > 0) return { outcome: 'rolledBack', reason: say(rolledBack) }
  if (late.length > 0) return { outcome: 'deadline', reason: say(late) }
  const interrupted = of('interrupted')
  if (interrupted.length > 0) return { outcome: 'interrupted', reason: say(interrupted) }
  // No pod says why: the one that the run stopped for is gone.
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

/** What ends so may be drained, whatever its journal says. */
export const UNSETTLED: ReadonlySet<PodResult['outcome']> = new Set(['needsOperator', 'interrupted', 'conflict'])

/** It runs what it is to run, or is gone. */
const BROUGHT: ReadonlySet<PodResult['outcome']> = new Set(['upgraded', 'skipped', 'settled'])

/**
 * One that failed, or was rolled back, is at its end and not at its images: what goes on with it is the same run. So is one that
 * went on its way there: what has come in its place may be on any images.
 */
export function isBrought(pod: Pick<PodResult, 'outcome' | 'before'>): boolean {
  return BROUGHT.has(pod.outcome) && !hasFailedAndGone(pod)
}

export function hasFailedAndGone({ outcome, before }: Pick<PodResult, 'outcome' | 'before'>): boolean {
  return outcome === 'settled' && before !== undefined
}

/** Of a run that leaves these pods as they are: nobody has looked after them, and their targets may be drained. */
export function withOverlooked({ outcome, reason }: Ending, pods: readonly OverlookedPod[]): Ending {
  const left: Reason = { code: 'overlooked', pods: [...pods] }
  if (outcome === 'done' || outcome === 'aborted') return { outcome: 'failed', reason: left }
  return { outcome, reason: several(reason, left) }
}

/** Of an abort whose record could not be closed: unless another has ended the run since, it is open, and the order stands. */
export function withOpenRecord({ outcome, reason }: Ending, { trouble, as }: { trouble: Reason; as: RunOutcome }): Ending {
  const left = { code: 'run-not-ended', because: trouble } as const
  if (outcome === 'aborted') return { outcome: as, reason: left }
  return { outcome, reason: several(reason, left) }
}

/**
 * What was put back, refused or brought home is what an abort promises; what stays out or needs a person is not.
 * `takesOver`: of another's run, so that `pods` are no more than those which that has left open. `isOnNew`: of a pod, by its uid,
 * whatever it was to run in the end. Found by reading: what an undo had patched came home to its abort, and was called old.
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

/** Something of it is out of rotation, open, or not known. */
export function isUnfinished({ traffic, record, outcome }: PodResult): boolean {
  return traffic === 'out' || record === 'unclosed' || UNSETTLED.has(outcome)
}
