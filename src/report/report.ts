import type { Warning } from '../journal/account.ts'
import type { Advice } from '../reasons/advice.ts'
import type { Reason } from '../reasons/reason.ts'

/** The result of a run, pod by pod. Within one apiVersion, fields are added, but never changed or removed. Instants are ISO 8601. */
export interface Report {
  apiVersion: 'sluice.dev/v1'
  kind: 'Report'
  /** Id of the run. Empty if no run began, for example because another run had the workload. */
  run: string
  namespace: string
  /** Such as `statefulset/web`. */
  workloads: string[]
  /** The requested images. Empty if the pods were brought to the template of their workload. */
  images: { container: string; image: string }[]
  /** The run that this run undoes. */
  undoes?: string
  /** A RunOutcome. `open` if no process has reported an end and work may be open; `closed` if none is open. */
  outcome: string
  reason: Reason
  startedAt: string
  /** The end of the run; absent if no process has reported it. */
  endedAt?: string
  /** The number of pods that may be out of rotation at once; absent if it is not known. */
  window?: number
  /** The processes that have reported their part, the first one first. The outcome `resolved` is that of `sluice resolve`. */
  processes: { by: string; epoch: number; startedAt: string; endedAt: string; outcome: string; reason: Reason }[]
  loadBalancers: ReportLoadBalancer[]
  /** The pods in the order of their beginning; pods that were not begun are last. */
  pods: ReportPod[]
  /** Failed requests that load balancers or their clients have reported. */
  failures: ReportFailure[]
  warnings: Warning[]
  /** The gaps of this report. */
  missing: Reason[]
}

export interface ReportLoadBalancer {
  name: string
  /** The adapter; absent if no process has reported it. */
  adapter?: string
  /** The guarantee level of the adapter, G0 to G3. */
  guarantee?: string
  /** The calls by their effect on one target each. */
  drains: EffectCounts
  restores: EffectCounts
}

export interface EffectCounts {
  done: number
  /** Calls without an answer whose effect a read-back has confirmed; not included in `done`. */
  confirmed: number
  ambiguous: number
  failed: number
  pending: number
  /** Repetitions of an effect within an attempt; included in the counts above. */
  repeated: number
}

export interface ReportPod {
  uid: string
  pod: string
  node?: string
  /**
   * A PodOutcome. `resolved` if a person has reported the pod's traffic, and no run has upgraded the pod since; `unknown` if the outcome is
   * not known.
   */
  outcome: string
  /** Absent if no reason was reported. */
  reason?: Reason
  /** Name of the deadline that passed. */
  deadline?: string
  /** True if the pod was out of rotation at the end of the last process that had it, and was not closed since. */
  out: boolean
  advice?: Advice[]
  images: { container: string; from: string; to: string }[]
  /** The entries of the pod, with their states before the drain if these are known. */
  targets: { loadBalancer: string; target: string; prior?: unknown }[]
  phases: ReportPhase[]
  effects: ReportEffect[]
  /** The proof of the restart: by the witness, or in a weaker form. Absent if the restart was not proven. */
  proof?: string
  /** Container ids are shortened to their first digits, as runtimes show them. */
  restarts: {
    container: string
    image: { from: string; to: string }
    containerId: { from?: string; to?: string }
    imageId: { from?: string; to?: string }
  }[]
  /** The unknown part of the pod's history. */
  missing?: Reason
}

export interface ReportPhase {
  /** A PodState. */
  state: string
  fromAt: string
  toAt: string
  /** The last condition that the pod waited for. */
  waiting?: Reason
}

export interface ReportEffect {
  at: string
  loadBalancer: string
  target: string
  effect: 'drain' | 'restore'
  /** The id of the operation; identical in every try of one effect. */
  operation: string
  /** `confirmed`: the call had no answer, and a read-back has shown its effect. `ambiguous`: the effect was not known at that moment. */
  outcome: 'done' | 'ambiguous' | 'failed' | 'confirmed' | 'pending'
  repeated: boolean
  /** The number of targets in the call. */
  batch: number
  /** The time between the request for the call and this outcome. Absent if another process had made the request. */
  durationMs?: number
  /** The message of the adapter. */
  said?: string
  /** The evidence that the call had its effect, or the reasons against it. */
  evidence: Reason[]
}

export interface ReportFailure {
  at: string
  /** Name of the pod, if it is known. */
  pod?: string
  /** Such as `503`, `reset`, `timeout`. */
  kind: string
  detail?: string
}
