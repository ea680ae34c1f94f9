import type { Observation, PodContext } from '../../../machines/pod-upgrade/context.ts'
import { isEnding, isMoved, isUsurped } from '../../../machines/pod-upgrade/facts.ts'
import { asksFor } from '../../pods/baseline.ts'
import type { PodView } from '../../pods/glossary.ts'
import { openJournal } from '../../pods/open-journal.ts'
import { restartProof } from '../../pods/witness.ts'
import { restartsOf } from '../account.ts'
import type { PodEnding, PodResult } from '../events.ts'
import { failedAdvice, needsOperatorAdvice, rolledBackAdvice } from '../advice.ts'

export interface Ended {
  /** It has nothing open any more. */
  isDone: boolean
  /** The pod as it is known now: newer than what its machine saw last, or the same. */
  now: Observation
  phases: PodResult['phases']
  /** What it was on its way to at first, where that was a bad one. */
  badEnd?: PodEnding['before'] | undefined
}

/** What came of a pod whose machine has come to its end. */
export function podResult(context: PodContext, { isDone, now, phases, badEnd }: Ended): PodResult {
  const { pod, gone, outcome, restart, record } = context
  // Each end of the machine has both: machines/pod-upgrade/exploration.test.ts.
  const reason = context.reason!
  const proof = restart && restartProof(restart)
  // What a later owner has open for it is that one's to tell, and may be of long ago: this process was overtaken.
  const isOthers = outcome === 'conflict' && isUsurped({ stored: now.stored, run: context.run, epoch: context.epoch })
  // Found by reading: somebody had removed the journal of a pod that failed; it was called no more out, and its run was closed.
  const open = now.stored.kind === 'read' ? openJournal(now.stored) : context.lastRead
  const out = !isDone && (gone || (open !== undefined && !isOthers))
  const isUnclosed = isDone && open !== undefined && !isOthers && !isEnding({ gone, pod: now.pod })
  // Found by reading: a pod failed and went, its entry with it. It was settled, and nobody was told that the run had failed.
  const before = badEnd && badEnd.outcome !== outcome ? badEnd : undefined
  // What it had failed by counts on. Found by reading: a late drain that was undone was no deadline where its pod went meanwhile.
  const deadline = context.deadline ?? (outcome === 'settled' ? before?.deadline : undefined)
  const isPutBack = isDone && !isUnclosed && wasPutBack(context, now, phases)
  return {
    uid: pod.uid,
    pod: pod.name,
    outcome: outcome!,
    reason: isPutBack ? { code: 'failed-and-put-back', failure: reason } : reason,
    ...(deadline ? { deadline } : {}),
    traffic: out ? 'out' : trafficOf(context),
    record: isUnclosed ? 'unclosed' : isDone ? 'closed' : 'open',
    ...(before ? { before } : {}),
    advice: adviceOf(context, out, now.pod),
    phases,
    ...(proof && outcome === 'upgraded' ? { proof } : {}),
    ...(proof && record ? { restarts: restartsOf(record.baseline, now.pod) } : {}),
    ...(record ? { targets: record.targets.map(({ loadBalancer, target, prior }) => ({ loadBalancer, target, prior })) } : {}),
  }
}

/** Found by a fresh user: a pod had failed, and nothing said that it takes requests again. */
function wasPutBack(
  { outcome, gone, record }: PodContext,
  now: Observation,
  { readmitting, restoring }: Ended['phases'],
): boolean {
  if (outcome !== 'failed' || gone || record === undefined || (readmitting ?? restoring) === undefined) return false
  if (isOperatorsOut(record)) return false
  return asksFor(
    now.pod,
    record.baseline.map(({ name, image }) => ({ container: name, image })),
  )
}

function isOperatorsOut(record: PodContext['record']): boolean {
  return record !== undefined && record.targets.length > 0 && record.targets.every(({ untouched }) => untouched)
}

function trafficOf({ outcome, record, reason }: PodContext): PodEnding['traffic'] {
  if (reason?.code === 'left-out') return 'leftOut'
  return outcome === 'upgraded' && isOperatorsOut(record) ? 'operatorOut' : 'asBefore'
}

function adviceOf(context: PodContext, out: boolean, { finished }: PodView): PodResult['advice'] {
  const { outcome, pod, gone, record, recorded = [], heir } = context
  const moved = isMoved(context) && pod.ip !== undefined ? { movedTo: pod.ip } : {}
  const replacement = heir?.pod.ip === undefined ? {} : { replacementAt: heir.pod.ip }
  const stranded = {
    pod,
    gone,
    finished,
    ...moved,
    ...replacement,
    targets: record?.targets ?? recorded,
    former: formerOf(record),
  }
  if (outcome === 'needsOperator') return needsOperatorAdvice(stranded)
  if (outcome === 'rolledBack' && !gone) return rolledBackAdvice(pod)
  return outcome === 'failed' && out ? failedAdvice(stranded) : []
}

/** A pod that failed on its way back has the images in its baseline that it failed on before. */
function formerOf(record: PodContext['record']): { name: string; image: string }[] {
  return record?.rollback?.map(({ container, image }) => ({ name: container, image })) ?? record?.baseline ?? []
}
