import type { Warning } from '../journal/account.ts'
import type { Advice } from '../reasons/advice.ts'
import type { Reason } from '../reasons/reason.ts'

/** What became of a run, pod by pod. Fields are added, never changed or removed, under one apiVersion. Instants are ISO 8601. */
export interface Report {
  apiVersion: 'sluice.dev/v1'
  kind: 'Report'
  /** Empty where no run began, as where another one had the workload. */
  run: string
  namespace: string
  /** Such as `statefulset/web`. */
  workloads: string[]
  /** What was asked for; empty where the pods were brought to their workload's own template. */
  images: { container: string; image: string }[]
  /** The run that this one takes back. */
  undoes?: string
  /** A RunOutcome; `open` where no process has told of an end, and something may be open; `closed` where nothing is. */
  outcome: string
  reason: Reason
  startedAt: string
  /** Absent where nobody has told of an end. */
  endedAt?: string
  /** Pods that may be out of rotation at once; absent where it is not known. */
  window?: number
  /** Those that have told of their part, the first one first; `resolved` is the outcome of `sluice resolve`. */
  processes: { by: string; epoch: number; startedAt: string; endedAt: string; outcome: string; reason: Reason }[]
  loadBalancers: ReportLoadBalancer[]
  /** In the order in which they were begun; those that were not come last. */
  pods: ReportPod[]
  /** From outside, such as requests that failed: what the load balancers or their clients have seen. */
  failures: ReportFailure[]
  warnings: Warning[]
  /** What this report cannot know. */
  missing: Reason[]
}

export interface ReportLoadBalancer {
  name: string
  /** Absent where no process has told. */
  adapter?: string
  /** G0 to G3. */
  guarantee?: string
  /** Calls, by their effect on one target each. */
  drains: EffectCounts
  restores: EffectCounts
}

export interface EffectCounts {
  done: number
  /** Done, as a read-back has shown after a lost answer; not among `done`. */
  confirmed: number
  ambiguous: number
  failed: number
  pending: number
  /** The same effect of the same attempt once more; counted above too. */
  repeated: number
}

export interface ReportPod {
  uid: string
  pod: string
  node?: string
  /** A PodOutcome; `resolved` where a person has said where its traffic is, and nobody has upgraded it since; `unknown`. */
  outcome: string
  /** Absent where nothing was told. */
  reason?: Reason
  /** Named deadline that passed. */
  deadline?: string
  /** Out of rotation when the last process that had it ended, and not closed since. */
  out: boolean
  advice?: Advice[]
  images: { container: string; from: string; to: string }[]
  /** Its entries, each as it was before the drain, where that is known. */
  targets: { loadBalancer: string; target: string; prior?: unknown }[]
  phases: ReportPhase[]
  effects: ReportEffect[]
  /** How the restart was proven: by the witness, or by a weaker form; absent where it was not. */
  proof?: string
  /** Ids in their first digits, as a runtime shows them. */
  restarts: {
    container: string
    image: { from: string; to: string }
    containerId: { from?: string; to?: string }
    imageId: { from?: string; to?: string }
  }[]
  /** What is not known of it. */
  missing?: Reason
}

export interface ReportPhase {
  /** A PodState. */
  state: string
  fromAt: string
  toAt: string
  /** The last thing that the pod waited for. */
  waiting?: Reason
}

export interface ReportEffect {
  at: string
  loadBalancer: string
  target: string
  effect: 'drain' | 'restore'
  /** The same for every try of one effect. */
  operation: string
  /** `confirmed`: done, by a read-back after a lost answer. `ambiguous`: nobody knew at that moment. */
  outcome: 'done' | 'ambiguous' | 'failed' | 'confirmed' | 'pending'
  repeated: boolean
  /** Targets in the same call. */
  batch: number
  /** From the moment that the call was asked for until this outcome; absent where the process had not asked for it itself. */
  durationMs?: number
  /** In the words of the adapter. */
  said?: string
  /** What shows that the call did what it should, or what stood against it. */
  evidence: Reason[]
}

export interface ReportFailure {
  at: string
  /** Name of the pod, where it is known. */
  pod?: string
  /** Such as `503`, `reset`, `timeout`. */
  kind: string
  detail?: string
}
