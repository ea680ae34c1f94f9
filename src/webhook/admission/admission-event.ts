import type { EndpointsKind } from '../cluster/cluster-view.ts'
import type { Decision } from '../decide/decision.ts'
import type { SkipReason } from './scope.ts'

export const ADMISSION_RESULTS = ['changed', 'unchanged', 'audited', 'skipped', 'shed', 'cut-off', 'failed', 'refused'] as const
/**
 * - `changed`, `unchanged`: the rules have decided.
 * - `audited`: the rules would have changed the object, and only say so.
 * - `skipped`: the object is none that rules decide about.
 * - `shed`: the server had more requests than it could answer in time.
 * - `cut-off`: the decision took longer than its time.
 * - `failed`: the decision met an error of the program.
 * - `refused`: the body is no review.
 * In each case but `changed` the object is stored as its writer wishes.
 */
export type AdmissionResult = (typeof ADMISSION_RESULTS)[number]

export const WAIT_OUTCOMES = ['seen', 'timed-out', 'crowded'] as const
/**
 * - `seen`: this process has come to see each pod as the request has it.
 * - `timed-out`: the time was over before.
 * - `crowded`: too many requests were waiting already, so that this one was decided at once.
 */
export type WaitOutcome = (typeof WAIT_OUTCOMES)[number]

/** A request that was answered. */
export interface Answered {
  readonly type: 'answered'
  readonly result: AdmissionResult
  readonly tookMs: number
  /** Absent where the body was not read, or is no review. */
  readonly request?: RequestFacts
  readonly skipped?: SkipReason
  readonly decision?: Decision
  /** The request had pods otherwise than this process had seen them. */
  readonly waited?: { readonly outcome: WaitOutcome; readonly ms: number }
  /** The annotation `sluice.dev/write` was changed, so that the resourceVersion moves. */
  readonly isMoved?: boolean
  /** Set for the result `failed`. */
  readonly error?: unknown
}

export interface RequestFacts {
  readonly uid: string
  readonly kind: EndpointsKind | undefined
  readonly namespace: string
  readonly name: string
  readonly operation: string
  readonly username: string
  readonly isDryRun: boolean
}
