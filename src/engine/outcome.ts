import type { PodResult, RunOutcome } from './events.ts'

/**
 * How a run ended, from how its pods did: the worst of them, in the order of the exit codes that a pipeline acts on. `stays`: of a
 * pod, by its uid, that nothing is asked of it, on whatever images it is.
 */
export function worstOutcome(
  pods: readonly PodResult[],
  stays: (uid: string) => boolean = () => false,
): { outcome: RunOutcome; reason: string } {
  const say = (some: readonly PodResult[]): string => some.map(({ pod, reason }) => `${pod}: ${reason}`).join('; ')
  const of = (outcome: PodResult['outcome']): PodResult[] => pods.filter((pod) => pod.outcome === outcome)
  const needsOperator = of('needsOperator')
  if (needsOperator.length > 0) return { outcome: 'needsOperator', reason: say(needsOperator) }
  const conflict = of('conflict')
  if (conflict.length > 0) return { outcome: 'conflict', reason: say(conflict) }
  // Found by reading: a pod failed and went, and its run was done. Who has mended nothing would have the next pod fail too.
  const failed = pods.filter((pod) => pod.outcome === 'failed' || hasFailedAndGone(pod))
  // A drain that did not come to its end in time and was undone: nothing is broken, and the same command tries again.
  const late = failed.filter(({ deadline, out }) => deadline === 'drain' && !out)
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
  const words = left.length === 0 ? '' : `, ${left.length} left as ${left.length === 1 ? 'it is' : 'they are'}`
  return { outcome: 'done', reason: `${of('upgraded').length} upgraded, ${already.length} at the wanted images already${words}` }
}

/** What ends so may be drained, whatever its journal says. */
export const UNSETTLED: ReadonlySet<PodResult['outcome']> = new Set(['needsOperator', 'interrupted', 'conflict'])

/** It runs what it is to run, or is gone. */
const BROUGHT: ReadonlySet<PodResult['outcome']> = new Set(['upgraded', 'skipped', 'settled'])

/**
 * One that failed, or was rolled back, is at its end and not at its images: what goes on with it is the same run. So is one that
 * went on its way there: what has come in its place may be on any images.
 */
export function isBrought(pod: Pick<PodResult, 'outcome' | 'hadFailed'>): boolean {
  return BROUGHT.has(pod.outcome) && !hasFailedAndGone(pod)
}

export function hasFailedAndGone({ outcome, hadFailed }: Pick<PodResult, 'outcome' | 'hadFailed'>): boolean {
  return outcome === 'settled' && hadFailed !== undefined
}

/** Of a run that leaves these pods as they are: nobody has looked after them, and their targets may be drained. */
export function withOverlooked(
  { outcome, reason }: { outcome: RunOutcome; reason: string },
  pods: readonly string[],
): { outcome: RunOutcome; reason: string } {
  const left =
    `not settled: ${pods.join(', ')}: gone while they waited for their turn, or not of this request. sluice status says what ` +
    `may be drained for them; the same command again goes on with those that it asks for, one that names their workload with ` +
    `all, and of a workload that is gone a person says how they stand: sluice resolve pod/NAME --traffic in`
  if (outcome === 'done' || outcome === 'aborted') return { outcome: 'failed', reason: left }
  return { outcome, reason: `${reason}; ${left}` }
}

/** Of an abort whose record could not be closed: unless another has ended the run since, it is open, and the order stands. */
export function withOpenRecord(
  { outcome, reason }: { outcome: RunOutcome; reason: string },
  { trouble, as }: { trouble: string; as: RunOutcome },
): { outcome: RunOutcome; reason: string } {
  const left = `this process has not ended the run: ${trouble}; while it is open its abort stays ordered`
  if (outcome === 'aborted') return { outcome: as, reason: left }
  return { outcome, reason: `${reason}; ${left}` }
}

/**
 * What was put back, refused or brought home is what an abort promises; what stays out or needs a person is not.
 * `takesOver`: of another's run, so that `pods` are no more than those which that has left open. `isOnNew`: of a pod, by its uid,
 * whatever it was to run in the end. Found by reading: what an undo had patched came home to its abort, and was called old.
 */
export function endingOfAbort(
  pods: readonly PodResult[],
  { by, takesOver, isOnNew }: { by: string; takesOver: boolean; isOnNew(uid: string): boolean },
): { outcome: RunOutcome; reason: string } {
  const unfinished = pods.filter(({ out, unclosed, outcome }) => out || unclosed || UNSETTLED.has(outcome))
  if (unfinished.length > 0) return worstOutcome(unfinished)
  const upgraded = pods.filter(({ outcome }) => outcome === 'upgraded').length
  const others = pods.filter(({ outcome }) => outcome === 'unchanged' || outcome === 'rolledBack' || outcome === 'failed')
  const kept = others.filter(({ uid }) => isOnNew(uid)).length
  const counts = `${upgraded + kept} on their new images, ${others.length - kept} left on their old ones`
  if (!takesOver) return { outcome: 'aborted', reason: `by ${by}; ${counts}` }
  return { outcome: 'aborted', reason: pods.length === 0 ? `by ${by}; no pod was open` : `by ${by}; of the open pods, ${counts}` }
}
