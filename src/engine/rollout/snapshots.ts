import type { PodSnapshot as Snapshot } from '../../../machines/pod-upgrade/index.ts'
import type { PodState } from '../events.ts'

export type { Snapshot }

/** The top-level state; `stopped` is told as the state that the pod was left in would be misleading, so as failed. */
export function stateOf({ value }: Snapshot): PodState {
  const name = typeof value === 'string' ? value : Object.keys(value)[0]!
  return name === 'stopped' ? 'failed' : (name as PodState)
}

/** What is said of a pod after which no other is to start. */
export const BAD_ENDS = {
  failed: 'failed',
  rolledBack: 'failed and goes back to its former images',
  needsOperator: 'needs a person',
}

export interface BadEnd {
  outcome: keyof typeof BAD_ENDS
  reason: string
  /** Of which it was too late. */
  deadline: Snapshot['context']['deadline']
}

/** One of those; the pod may still be on its way to that end. */
export function badEnd({ context: { outcome, reason, deadline } }: Snapshot): BadEnd | undefined {
  if (outcome !== 'failed' && outcome !== 'rolledBack' && outcome !== 'needsOperator') return undefined
  return { outcome, reason, deadline }
}

/** Another owner has written its journal, or has the Lease. */
export function isOvertaken({ context: { outcome } }: Snapshot): boolean {
  return outcome === 'conflict'
}

/** Nothing is drained for it by this run. */
export function isUntouched(state: PodState): boolean {
  return state === 'deriving' || state === 'queued' || state === 'checking'
}

/** Patched, and not ready yet to be put back. */
export function isProving(state: PodState): boolean {
  return state === 'restarting' || state === 'warming'
}

const INTENDING = ['writing', 'rereading', 'rewaiting', 'pausing'] as const

/** It has a place in the window, and no effect: its intent is not known to be stored. */
export function isBeforeDrain(snapshot: Snapshot): boolean {
  return snapshot.matches('checking') || INTENDING.some((draining) => snapshot.matches({ draining }))
}

/** What an earlier owner meant to drain, and has not. */
export function isAdmitting(snapshot: Snapshot): boolean {
  return snapshot.matches({ draining: 'admitting' })
}

/** Has that been drained after all? */
export function isLookedAt(snapshot: Snapshot): boolean {
  const { record, admitted } = snapshot.context
  return snapshot.matches({ draining: 'reading' }) && record?.step === 'drain' && !admitted
}
