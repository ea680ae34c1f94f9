import type { PodSnapshot as Snapshot } from '../../../machines/pod-upgrade/index.ts'
import type { BadEnding, PodState } from '../events.ts'

export type { Snapshot }

/** The top-level state; `stopped` is told as the state that the pod was left in would be misleading, so as failed. */
export function stateOf({ value }: Snapshot): PodState {
  const name = typeof value === 'string' ? value : Object.keys(value)[0]!
  return name === 'stopped' ? 'failed' : (name as PodState)
}

/** An end after which no other pod is to start; the pod may still be on its way to it. */
export function badEnding({ context: { outcome, reason, deadline } }: Snapshot): BadEnding | undefined {
  if (outcome !== 'failed' && outcome !== 'rolledBack' && outcome !== 'needsOperator') return undefined
  if (reason === undefined) return undefined
  return { outcome, reason, ...(deadline === undefined ? {} : { deadline }) }
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
