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
  /** Reports whether the pod has nothing open any more. */
  isDone: boolean
  /** The pod as it is known now, not older than the machine's observation. */
  now: Observation
  phases: PodResult['phases']
  /** The bad outcome that the pod was to have at first. */
  badEnd?: PodEnding['before'] | undefined
}

/** The result of a pod whose machine has ended. */
export function podResult(context: PodContext, { isDone, now, phases, badEnd }: Ended): PodResult {
  const { pod, gone, outcome, restart, record } = context
  // Each end of the machine sets both. machines/pod-upgrade/exploration.test.ts checks that.
  const reason = context.reason!
  const proof = restart && restartProof(restart)
  // A record of a later owner is told by that owner. This process was overtaken.
  const isOthers = outcome === 'conflict' && isUsurped({ stored: now.stored, run: context.run, epoch: context.epoch })
  // A removed journal counts as it was read last: the pod that failed is still out.
  const open = now.stored.kind === 'read' ? openJournal(now.stored) : context.lastRead
  const out = !isDone && (gone || (open !== undefined && !isOthers))
  const isUnclosed = isDone && open !== undefined && !isOthers && !isEnding({ gone, pod: now.pod })
  // A pod that failed and then went is settled, and the run must still tell of its failure.
  const before = badEnd && badEnd.outcome !== outcome ? badEnd : undefined
  // The deadline by which the pod failed stays, also where the pod went meanwhile.
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

/** Reports whether a failed pod gets requests again on its former images. */
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

/** The former images of the pod. After a failed rollback the baseline has the images that failed, so `rollback` counts. */
function formerOf(record: PodContext['record']): { name: string; image: string }[] {
  return record?.rollback?.map(({ container, image }) => ({ name: container, image })) ?? record?.baseline ?? []
}
