import type { PodSnapshot as Snapshot } from '../../../machines/pod-upgrade/index.ts'
import type { BadEnding, PodState } from '../events.ts'

export type { Snapshot }

/** The top-level state. `stopped` reads as `failed`, since the state in which the pod was left would be misleading. */
export function stateOf({ value }: Snapshot): PodState {
  const name = typeof value === 'string' ? value : Object.keys(value)[0]!
  return name === 'stopped' ? 'failed' : (name as PodState)
}

/** A bad outcome, after which no other pod starts. The pod may still be on its way to it. */
export function badEnding({ context: { outcome, reason, deadline } }: Snapshot): BadEnding | undefined {
  if (outcome !== 'failed' && outcome !== 'rolledBack' && outcome !== 'needsOperator') return undefined
  if (reason === undefined) return undefined
  return { outcome, reason, ...(deadline === undefined ? {} : { deadline }) }
}

/** Reports whether another owner has written the journal, or has the Lease. */
export function isOvertaken({ context: { outcome } }: Snapshot): boolean {
  return outcome === 'conflict'
}

/** Reports whether this run has drained nothing for the pod. */
export function isUntouched(state: PodState): boolean {
  return state === 'deriving' || state === 'queued' || state === 'checking'
}

/** Reports whether the pod is patched, and not ready to be put back. */
export function isProving(state: PodState): boolean {
  return state === 'restarting' || state === 'warming'
}

const INTENDING = ['writing', 'rereading', 'rewaiting', 'pausing'] as const

/** Reports whether the pod has a place in the window and no effect: its intent is not known to be stored. */
export function isBeforeDrain(snapshot: Snapshot): boolean {
  return snapshot.matches('checking') || INTENDING.some((draining) => snapshot.matches({ draining }))
}

/** Reports whether the pod waits for a place: an earlier owner recorded a drain that was not carried out. */
export function isAdmitting(snapshot: Snapshot): boolean {
  return snapshot.matches({ draining: 'admitting' })
}

/** Reports whether the pod is being looked at, to find out whether the recorded drain was carried out. */
export function isLookedAt(snapshot: Snapshot): boolean {
  const { record, admitted } = snapshot.context
  return snapshot.matches({ draining: 'reading' }) && record?.step === 'drain' && !admitted
}
