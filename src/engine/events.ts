import type { ContainerRestart } from '../journal/account.ts'
import type { Plan } from '../plan/plan.ts'

/** The states of one pod upgrade, as docs/states.md explains them. */
export type PodState =
  | 'deriving'
  | 'queued'
  | 'claiming'
  | 'checking'
  | 'draining'
  | 'emptying'
  | 'patching'
  | 'rollingBack'
  | 'restarting'
  | 'warming'
  | 'restoring'
  | 'verifying'
  | 'readmitting'
  | 'settling'
  | 'closing'
  | 'done'
  | 'failed'
  | 'needsOperator'

/**
 * How one pod ended.
 * - `upgraded`: new images run, and it is back in rotation as it was before
 * - `skipped`: nothing was to do
 * - `unchanged`: put back on its old images (interrupted or refused after the drain), or never started
 * - `rolledBack`: it failed, and is back in rotation on its old images
 * - `failed`: it is out of rotation (`out`); or it is not: it was refused before the drain, or is back on its old images, as after a
 *   drain that was not empty in time; `reason` says which
 * - `settled`: the pod is gone for good, and what was drained for it is closed or restored
 * - `needsOperator`: its traffic state cannot be known or repaired
 * - `interrupted`: left half done and resumable by the same command
 * - `conflict`: another owner writes its journal
 */
export type PodOutcome =
  | 'upgraded'
  | 'skipped'
  | 'unchanged'
  | 'rolledBack'
  | 'failed'
  | 'settled'
  | 'needsOperator'
  | 'interrupted'
  | 'conflict'

export interface PodResult {
  uid: string
  pod: string
  outcome: PodOutcome
  reason: string
  /** Named deadline that fired, `drain`, `restart`, `rollback`, `ready` or `restore`. */
  deadline?: string
  /** Out of rotation by sluice when the run ended. */
  out: boolean
  /** It is upgraded, and an operator had it out of rotation before: it is left so, and `out` says nothing of that. */
  outBefore?: true
  /** It is gone, and its entries are out of rotation for good, since nothing was to come in its place. */
  leftOut?: true
  /** In rotation, with a journal that could not be closed: the same command does that. */
  unclosed?: true
  /** Of one that has come to another end than this, since it went on its way there, say: how it was to end before that. */
  hadFailed?: 'failed' | 'rolledBack' | 'needsOperator'
  /** What a person has to look at and run, for needsOperator and failed. */
  instructions?: string
  /** Milliseconds spent in each state. */
  phases: Partial<Record<PodState, number>>
  /** How the restart was proven: by the witness, or by one of the weaker forms. */
  proof?: 'witness' | 'generation' | 'event' | 'image' | 'quiet'
  /** What the proof is about: each patched container before and after. */
  restarts?: ContainerRestart[]
  /** Its entries in the load balancers, as they were before the drain. */
  targets?: { loadBalancer: string; target: string; prior: unknown }[]
}

export type RunOutcome =
  | 'done'
  | 'failed'
  | 'rolledBack'
  | 'deadline'
  | 'refused'
  | 'conflict'
  | 'interrupted'
  | 'paused'
  | 'aborted'
  | 'needsOperator'

export interface RunResult {
  run: string
  outcome: RunOutcome
  reason: string
  /** Who has the workload, where this run did not get it for that. */
  holder?: string
  pods: PodResult[]
  /** Workloads that an abort leaves on different images: their template is on its former ones, and `upgraded` pods are not. */
  mixed?: MixedWorkload[]
}

export interface MixedWorkload {
  /** Such as `statefulset/web`. */
  workload: string
  upgraded: number
  pods: number
}

export type RunEventBody =
  | { type: 'planned'; plan: Plan }
  /** Another owner holds, or held, the Lease: waiting until it is known to be dead. */
  | { type: 'leaseWaiting'; lease: string; holder: string; remainingMs: number }
  | { type: 'started'; run: string; epoch: number; resumed: boolean; pods: { uid: string; pod: string }[] }
  | { type: 'template'; workload: string; message: string }
  /** `reason` tells what is being waited for, in words. */
  | { type: 'podState'; uid: string; pod: string; from: PodState | null; to: PodState; reason: string }
  /** The reason for waiting changed, or its numbers did, such as "14 in flight". */
  | { type: 'podDetail'; uid: string; pod: string; state: PodState; detail: string }
  /** A call to a load balancer was resolved for one target. `confirmed` by read-back after an ambiguity. */
  | {
      type: 'effect'
      uid: string
      pod: string
      loadBalancer: string
      target: string
      effect: 'drain' | 'restore'
      operation: string
      outcome: 'applied' | 'ambiguous' | 'failed' | 'confirmed' | 'pending'
      /** Targets in the same wire call. */
      batch: number
      detail?: string
    }
  | { type: 'podFinished'; result: PodResult }
  | { type: 'interrupting'; graceMs: number }
  /** Somebody has ordered this by the Lease; `resume` where a pause is there no more. */
  | { type: 'ordered'; order: 'pause' | 'resume' | 'abort'; by: string }
  /** A pause has come to rest: nothing is under way any more. */
  | { type: 'paused'; by: string }
  | { type: 'warning'; message: string; pod?: string }
  | { type: 'finished'; result: RunResult }

/** Everything that a run tells; the only source for output, report, logs and metrics. */
export type RunEvent = RunEventBody & {
  /** Milliseconds since the run began, on the monotonic clock. */
  atMs: number
  /** Wall time, ISO 8601, for display. */
  wallAt: string
}
