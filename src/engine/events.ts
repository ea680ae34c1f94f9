import type { ContainerRestart } from '../journal/account.ts'
import type { TimedCall } from '../kube/timed-client.ts'
import type { MixedWorkload } from '../journal/ledger.ts'
import type { Plan } from '../plan/plan.ts'
import type { Advice } from '../reasons/advice.ts'
import type { Reason } from '../reasons/reason.ts'

/** The states of the upgrade of one pod. docs/states.md explains each state. */
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
 * The outcome of one pod:
 * - `upgraded`: the pod runs the new images, and is back in rotation as before.
 * - `skipped`: the pod had nothing to do.
 * - `unchanged`: the pod is back on its old images (interrupted or refused after the drain), or was never started.
 * - `rolledBack`: the pod failed, and is back in rotation on its old images.
 * - `failed`: the pod failed. `traffic` tells whether the pod is out of rotation. A pod that was refused before the drain, or whose drain
 * was not empty in time, is not.
 * - `settled`: the pod is gone for good, and its drained entries are closed or restored.
 * - `needsOperator`: the traffic state of the pod cannot be known or repaired.
 * - `interrupted`: the pod is left half done, and the same command resumes it.
 * - `conflict`: another owner writes the journal of the pod.
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
 * The state of a pod's traffic at the end of its upgrade:
 * - `asBefore`: sluice holds no entry of the pod out of rotation.
 * - `out`: sluice holds the pod out of rotation.
 * - `operatorOut`: the pod is upgraded, and stays out of rotation, since an operator had taken it out before the upgrade.
 * - `leftOut`: the pod is gone, and its entries stay out of rotation for good, since no replacement was to come.
 */
export type PodTraffic = 'asBefore' | 'out' | 'operatorOut' | 'leftOut'

/** An outcome after which the run starts no other pod. */
export interface BadEnding {
  outcome: 'failed' | 'rolledBack' | 'needsOperator'
  reason: Reason
  deadline?: DeadlineName
}

/** The end of the upgrade of a pod. */
export interface PodEnding {
  outcome: PodOutcome
  reason: Reason
  /** The deadline that ended the upgrade, by its name in the config. */
  deadline?: DeadlineName
  traffic: PodTraffic
  /** `unclosed`: no entry of the pod is open, but its journal could not be closed. The same command closes the journal. */
  record: 'closed' | 'open' | 'unclosed'
  /** The bad outcome that the pod was to have before another event, such as its deletion, led to this outcome. */
  before?: BadEnding
}

export interface PodResult extends PodEnding {
  uid: string
  pod: string
  /** The advice for an operator: places to look at and commands to run. Empty where no action is needed. */
  advice: Advice[]
  /** The time spent in each state, in milliseconds. */
  phases: Partial<Record<PodState, number>>
  /** The form of proof of the restart: the witness rule, or one of the weaker forms (docs/protocol.md). */
  proof?: 'witness' | 'generation' | 'event' | 'image' | 'quiet'
  /** The evidence of the proof: each patched container before and after the patch. */
  restarts?: ContainerRestart[]
  /** The entries of the pod in the load balancers, each with its state before the drain. */
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
  /** The id of the run. Absent where no run began. */
  run?: string
  outcome: RunOutcome
  reason: Reason
  /** The owner that holds the workload. Present where this run did not get the Lease for that reason. */
  holder?: string
  pods: PodResult[]
  /** The workloads that an abort leaves on mixed images: the template has its former images, and the `upgraded` pods have the new ones. */
  mixed?: MixedWorkload[]
}

export type RunEventBody =
  | { type: 'planned'; plan: Plan }
  /**
   * Another owner holds, or held, the Lease. The run waits until that owner is known to be dead. `remainingMs` is the rest of the wait, in
   * milliseconds; a renewal of that owner ends the run.
   */
  | { type: 'leaseWaiting'; lease: string; holder: string; remainingMs: number }
  | { type: 'started'; run: string; epoch: number; resumed: boolean; pods: { uid: string; pod: string }[] }
  /** A step, or a wait, of the update of a workload's template. */
  | { type: 'template'; workload: string; reason: Reason }
  /** A pod has changed its state. `waiting` is the reason for which the pod waits in the new state. */
  | { type: 'podState'; uid: string; pod: string; from: PodState | null; to: PodState; waiting?: Reason }
  /** The reason for which a pod waits in its state has changed, or the numbers in it have. */
  | { type: 'podDetail'; uid: string; pod: string; state: PodState; waiting: Reason }
  /** The outcome of a call to a load balancer for one target. `confirmed` stands for a read-back after an ambiguous answer. */
  | {
      type: 'effect'
      uid: string
      pod: string
      loadBalancer: string
      target: string
      effect: 'drain' | 'restore'
      operation: string
      outcome: 'applied' | 'ambiguous' | 'failed' | 'confirmed' | 'pending'
      /** The number of targets in the same wire call. */
      batch: number
      /** The time from the request of the call to this outcome, in milliseconds. Absent where another process requested the call. */
      durationMs?: number
      /** The text of the adapter. */
      said?: string
      /** The evidence of the outcome, or the obstacle to the call. */
      reason?: Reason
    }
  /** A call of this run to the API server. Lists and watches that the run shares with other runs are not included. */
  | ({ type: 'apiCall' } & TimedCall)
  | { type: 'podFinished'; result: PodResult }
  | { type: 'interrupting'; graceMs: number }
  /** An order on the Lease. `resume` stands for a pause that has been removed. */
  | { type: 'ordered'; order: 'pause' | 'resume' | 'abort'; by: string }
  /** The pause has come to rest: no call is under way any more. */
  | { type: 'paused'; by: string }
  | { type: 'warning'; reason: Reason; pod?: string }
  | { type: 'finished'; result: RunResult }

/** One event of a run. Events are the only source of output, report, logs and metrics. */
export type RunEvent = RunEventBody & {
  /** The time since the run began, in milliseconds, on the monotonic clock. */
  atMs: number
  /** The wall time for display, in ISO 8601. */
  wallAt: string
}
