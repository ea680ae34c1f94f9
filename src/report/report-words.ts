/** The words of a report, for the page and the terminal. */
import type { Writing } from './words/writing.ts'
import type { Report, ReportEffect, ReportPod } from './report.ts'
import { WAITING } from './build-report.ts'
import { formatElapsed } from './elapsed.ts'
import type { RaisedDeadline } from '../plan/plan.ts'
import { coveredMs, isDone, outSpans } from './out-spans.ts'

const NAMED_AT_MOST = 5

export type Tone = 'good' | 'bad' | 'calm' | 'warn'

export function toneOf(outcome: string): Tone {
  if (['done', 'upgraded'].includes(outcome)) return 'good'
  if (['failed', 'needsOperator', 'conflict'].includes(outcome)) return 'bad'
  if (['rolledBack', 'deadline', 'interrupted', 'paused', 'open', 'unknown'].includes(outcome)) return 'warn'
  return 'calm'
}

/** The milliseconds in which work on the pod was under way, or the pod was out of rotation, including the time between two processes. */
export function busyMs(pod: ReportPod): number {
  const phases = pod.phases.filter(({ state }) => !WAITING.has(state))
  const busy = phases.map(({ fromAt, toAt }) => ({ fromMs: Date.parse(fromAt), toMs: Date.parse(toAt) }))
  return coveredMs([...busy, ...outSpans(pod).spans])
}

/** The total time out of rotation. Empty if a drain or a restore is missing in the record. */
export function outWords(pod: ReportPod): string {
  if (pod.out) return 'still out'
  const { spans, isWhole } = outSpans(pod)
  return isWhole && spans.length > 0 ? formatElapsed(coveredMs(spans)) : ''
}

/** The warning about a deadline that is shorter than the proof which it covers. */
export function raisedDeadlineWords({ deadline, configuredMs, raisedMs, pods }: RaisedDeadline): string {
  const named = pods.slice(0, NAMED_AT_MOST).join(', ')
  const more = pods.length > NAMED_AT_MOST ? ` and ${pods.length - NAMED_AT_MOST} more` : ''
  return (
    `deadlines.${deadline} is ${configuredMs / 1000} s; where nothing but time proves a restart it is raised, to ${raisedMs / 1000} s after ` +
    `the new container has started: ${pods.length === 1 ? 'the kubelet' : 'kubelets'} of ${named}${more} report${pods.length === 1 ? 's' : ''} no generation`
  )
}

/** True for a call that did not go normally; the report marks such calls. */
export function isUnusual({ outcome, repeated }: ReportEffect): boolean {
  return outcome !== 'done' || repeated
}

/** The number of calls, such as `1 drain, 1 restore`, and the unusual ones. */
export function callWords({ effects }: ReportPod): string {
  if (effects.length === 0) return 'none'
  const count = (kind: string): number => effects.filter((one) => one.effect === kind && isDone(one)).length
  const plural = (number: number, word: string): string => `${number} ${word}${number === 1 ? '' : 's'}`
  const unusual = effects.filter(isUnusual).length
  return [
    plural(count('drain'), 'drain'),
    plural(count('restore'), 'restore'),
    ...(unusual === 0 ? [] : [`${unusual} unusual`]),
  ].join(', ')
}

/** The evidence that a call had its effect, or the reason against it. */
export function evidenceWords({ said, evidence }: ReportEffect, write: Writing): string {
  return [...(said === undefined ? [] : [said]), ...evidence.map((one) => write.reason(one))].join('; ')
}

export function warningLines({ warnings }: Pick<Report, 'warnings'>, write: Writing): string[] {
  return warnings.map(({ pod, reason }) => `${pod === undefined ? '' : `${pod}: `}${write.reason(reason)}`)
}
