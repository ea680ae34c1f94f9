import type { ContainerRestart } from '../journal/account.ts'
import type { TimedCall } from '../kube/timed-client.ts'
import type { MixedWorkload } from '../journal/ledger.ts'
import type { Plan } from '../plan/plan.ts'
import type { Advice } from '../reasons/advice.ts'
import type { Reason } from '../reasons/reason.ts'

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
 * - `failed`: it is out of rotation; or it is not: it was refused before the drain, or is back on its old images, as after a
 *   drain that was not empty in time; `traffic` says which
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

/** The deadlines by their names in the config. */
export type DeadlineName = 'drain' | 'restart' | 'rollback' | 'ready' | 'restore'

/**
 * Where the traffic of a pod is when its upgrade has ended.
 * - `asBefore`: sluice has nothing of it out of rotation
 * - `out`: sluice has it out of rotation
 * - `operatorOut`: the pod is upgraded, and an operator had it out of rotation before: it is left so
 * - `leftOut`: the pod is gone, and its entries stay out of rotation for good, since no replacement was to come
 */
export type PodTraffic = 'asBefore' | 'out' | 'operatorOut' | 'leftOut'

/** An end that no other pod is started after. */
export interface BadEnding {
  outcome: 'failed' | 'rolledBack' | 'needsOperator'
  reason: Reason
  deadline?: DeadlineName
}

/** How the upgrade of a pod ended. */
export interface PodEnding {
  outcome: PodOutcome
  reason: Reason
  /** The named deadline that fired. */
  deadline?: DeadlineName
  traffic: PodTraffic
  /** `unclosed`: nothing is open any more, and the journal could not be closed. The same command does that. */
  record: 'closed' | 'open' | 'unclosed'
  /** The bad end that the pod was on its way to before it came to this one: it went meanwhile, say. */
  before?: BadEnding
}

export interface PodResult extends PodEnding {
  uid: string
  pod: string
  /** What a person has to look at and to run; empty where that is nothing. */
  advice: Advice[]
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
  /** Absent where no run began. */
  run?: string
  outcome: RunOutcome
  reason: Reason
  /** Who has the workload, where this run did not get it for that. */
  holder?: string
  pods: PodResult[]
  /** Workloads that an abort leaves on different images: their template is on its former ones, and `upgraded` pods are not. */
  mixed?: MixedWorkload[]
}

export type RunEventBody =
  | { type: 'planned'; plan: Plan }
  /** Another owner holds, or held, the Lease: waiting until it is known to be dead. */
  | { type: 'leaseWaiting'; lease: string; holder: string; remainingMs: number }
  | { type: 'started'; run: string; epoch: number; resumed: boolean; pods: { uid: string; pod: string }[] }
  /** What was done to the template of a workload, or is waited for there. */
  | { type: 'template'; workload: string; reason: Reason }
  /** `waiting` tells what the pod waits for in its new state. */
  | { type: 'podState'; uid: string; pod: string; from: PodState | null; to: PodState; waiting?: Reason }
  /** What the pod waits for in its state is another thing now, or its numbers are. */
  | { type: 'podDetail'; uid: string; pod: string; state: PodState; waiting: Reason }
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
      /** From the moment that the call was asked for until this outcome; absent where another process has asked for it. */
      durationMs?: number
      /** In the words of the adapter. */
      said?: string
      /** What shows the outcome, or stood against the call. */
      reason?: Reason
    }
  /** A call of this run to the API server. Lists and watches that are shared with other runs are not among them. */
  | ({ type: 'apiCall' } & TimedCall)
  | { type: 'podFinished'; result: PodResult }
  | { type: 'interrupting'; graceMs: number }
  /** Somebody has ordered this by the Lease; `resume` where a pause is there no more. */
  | { type: 'ordered'; order: 'pause' | 'resume' | 'abort'; by: string }
  /** A pause has come to rest: nothing is under way any more. */
  | { type: 'paused'; by: string }
  | { type: 'warning'; reason: Reason; pod?: string }
  | { type: 'finished'; result: RunResult }

/** Everything that a run tells; the only source for output, report, logs and metrics. */
export type RunEvent = RunEventBody & {
  /** Milliseconds since the run began, on the monotonic clock. */
  atMs: number
  /** Wall time, ISO 8601, for display. */
  wallAt: string
}
