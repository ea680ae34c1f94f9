/** How a report is put into words, on a page and on a terminal. */
import type { Report, ReportEffect, ReportPod } from './report.ts'
import { WAITING } from './build-report.ts'
import { formatElapsed } from './elapsed.ts'

const RUN_OUTCOMES: Record<string, string> = {
  done: 'Done',
  failed: 'Failed',
  rolledBack: 'Rolled back',
  deadline: 'A deadline passed',
  refused: 'Refused, nothing was touched',
  conflict: 'Conflict',
  interrupted: 'Interrupted',
  paused: 'Paused',
  aborted: 'Aborted',
  needsOperator: 'A person has to look',
  open: 'Open',
  closed: 'Closed',
}

const POD_OUTCOMES: Record<string, string> = {
  rolledBack: 'rolled back',
  needsOperator: 'needs an operator',
  unknown: 'not known',
}

export type Tone = 'good' | 'bad' | 'calm' | 'warn'

export function runOutcome({ outcome }: Pick<Report, 'outcome'>): string {
  return RUN_OUTCOMES[outcome] ?? outcome
}

export function podOutcome({ outcome }: Pick<ReportPod, 'outcome'>): string {
  return POD_OUTCOMES[outcome] ?? outcome
}

export function toneOf(outcome: string): Tone {
  if (['done', 'upgraded'].includes(outcome)) return 'good'
  if (['failed', 'needsOperator', 'conflict'].includes(outcome)) return 'bad'
  if (['rolledBack', 'deadline', 'interrupted', 'paused', 'open', 'unknown'].includes(outcome)) return 'warn'
  return 'calm'
}

/** Milliseconds in which something was done with it. */
export function busyMs({ phases }: ReportPod): number {
  return phases
    .filter(({ state }) => !WAITING.has(state))
    .reduce((sum, { fromAt, toAt }) => sum + Date.parse(toAt) - Date.parse(fromAt), 0)
}

/** How long it was out of rotation: from its first drain to its last restore. Empty where one of the two was not seen. */
export function outWords({ out, effects }: ReportPod): string {
  if (out) return 'still out'
  const happened = effects.filter(isDone)
  const drained = happened.find(({ effect }) => effect === 'drain')
  const restored = happened.findLast(({ effect }) => effect === 'restore')
  return drained && restored ? formatElapsed(Math.max(0, Date.parse(restored.at) - Date.parse(drained.at))) : ''
}

export function isDone({ outcome }: Pick<ReportEffect, 'outcome'>): boolean {
  return outcome === 'done' || outcome === 'confirmed'
}

/** A call that did not go the straight way: these are marked. */
export function isUnusual({ outcome, repeated }: ReportEffect): boolean {
  return outcome !== 'done' || repeated
}

/** `1 drain, 1 restore`, and what was unusual. */
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

export const PROOFS: Record<string, string> = {
  witness: 'the container of the first status that has seen the patch was replaced by a running one',
  image: 'the runtime names the wanted image, and its id is none of those before',
  quiet: 'the container has not changed for its grace period and 5 s since the kubelet saw the patch',
}
