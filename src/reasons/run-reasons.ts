import type { Command } from './command.ts'
import type { Because, LoadBalancerEntry, NoFields } from './fields.ts'
import type { Reason, ReasonOf } from './reason.ts'
import type { Place, RefusalCode } from './refusals.ts'

/** A pod that the run has not handled. `workload`: the pod's workload, if it is none of those of the run. */
export interface OverlookedPod {
  pod: string
  workload?: string
}

/** The reasons for the end of a run, and the messages of a run. */
export interface RunReasons {
  /** The pods that decided the outcome of the run, each with its reason. `failed`: the failure before that. */
  pods: { pods: { uid: string; pod: string; reason: Reason; failed?: Reason }[] }
  /** `left`: pods that the undone run did not change. `resolved`: pods about which a person has decided. */
  counts: { upgraded: number; already: number; left: number; resolved?: number }
  /** The run ended for several reasons. */
  several: { reasons: Reason[] }
  /** Pods that the run has not handled: pods that were gone before their turn, or pods outside of the request. */
  overlooked: { pods: OverlookedPod[] }
  /** The record of an aborted run could not be closed. The run is open, and the order still applies. */
  'run-not-ended': { because: Reason }
  /** `open` is present if the abort was of another process's run: only the open pods of that run count. */
  aborted: { by: string; upgraded: number; old: number; open?: number }
  /** The refusals of the plan, with their ways out. */
  'plan-refused': { refusals: ReasonOf<RefusalCode>[] }
  'stopped-before-done': NoFields
  /** A second signal came while pods were under way. */
  'stopped-at-once': NoFields
  'interrupted-before-start': NoFields
  /** A pod failed that is gone now, and the run has begun no further pod. */
  'not-begun': { pods: string[] }
  'not-ready-at-end': { pods: string[] }
  /** Open runs that this command has not finished. `run` is absent for the run of this command. */
  'stays-open': { runs: { run?: string; pods: string[] }[] }
  /** Pods of a finished run that are not on the images of this run. */
  'on-other-images': { run?: string; pods: string[] }
  /** The pause has taken effect: no pod is under way. */
  paused: { by: string }
  /** No pod starts after a pod with a bad ending. */
  'held-after': { pod: string; ending: 'failed' | 'rolledBack' | 'needsOperator' | 'overtaken' }
  /** No further pod starts, because the run was interrupted. */
  interrupted: NoFields
  'abort-ordered': { by: string }
  'pause-ends-run': { by: string }
  /** The drain deadline had passed, and `onDrainDeadline` is `proceed`. */
  'patched-with-requests': { pod: string; requests: number }
  'no-longer-selected': { pod: string }
  'watch-lost': Because
  'watch-trouble': Because

  /** An abort has left these templates unchanged. */
  'aborted-but': { left: Reason[] }
  'template-not-put-back': { workload?: string } & Because
  'template-put-back': { images: { container: string; image: string }[] }
  /** The template keeps the new images, because some pods run them. */
  'template-kept': { workload: string; upgraded: number }
  /** The template no longer belongs to this run. */
  'template-of-another-run': { workload: string }
  /** Pods that were created from the template before it was put back, and that are not ready. */
  'made-before-put-back': { pods: string[] }
  'revision-label-not-set': Because
  'patch-of-pod-refused': { pod: string } & Because

  'ledgers-not-removed': Because
  'ledger-not-closed': Because
  /** A newer sluice has a run of the workload on record; this sluice begins nothing there. */
  'ledger-of-newer-sluice': { run: string; problem: Reason }
  'ledger-unreadable': { run: string; problem: Reason }
  'ledgers-not-taken-over': { namespace: string; tries: number }
  'record-changed': { run: string }
  'run-ended-meanwhile': NoFields
  /** The pod has no journal and is out of rotation: an operator has it out, or its journal was removed. */
  'journal-lost': { run: string; traffic: Reason }
  'left-half-done': { run: string; pods: string[] }
  'left-out-for-good': { run: string; pods: string[] }
  'say-how-pods-stand': { severalWorkloads: boolean }

  'lease-held': { lease: string; holder: string; pausedBy?: string }
  /** `holder` is empty if the Lease has no holder, and absent if the Lease was deleted. */
  'lease-taken': { lease: string; holder?: string }
  'lease-not-renewed': Because
  'lease-ran-out': NoFields
  'lease-lost': NoFields
  'lease-contested': { leases: string[] }
  /** The `leaseTransitions` of the Lease were edited, and no larger number is left for the next owner. */
  'lease-counted-out': { lease: string; transitions: number; setBack: Command }
  /** The journal of a pod has an epoch beyond the maximum of a Lease. */
  'epoch-too-large': { lease: string; epoch: number; largest: number; pod?: string }
  'load-balancer-not-asked': { loadBalancer?: string } & Because
  'effects-cannot-be-made': { loadBalancer: string; target: string; others: number } & Because
  /** A half-done pod has a new entry, in which it was not drained. */
  'half-done-elsewhere': { pod: string; entry: LoadBalancerEntry }
  /** A pod was patched without a drain, and the config no longer names these containers in `drain.notFor`. */
  'half-done-undrained': { pod: string; containers: string[] }
  /** The record of a half-done pod names a load balancer that is missing in the config. */
  'half-done-not-in-config': { pod: string; place: Place; resolve: Command }
  /**
   * The record of a pod that is gone names a load balancer that is missing in the config. `targets`: all entries of the pod that may be
   * drained there.
   */
  'gone-not-in-config': { pod: string; target: string; place: Place; targets: string[]; resolve: Command }
}
