import type { Command } from './command.ts'
import type { Because, LoadBalancerEntry, NoFields } from './fields.ts'
import type { Reason, ReasonOf } from './reason.ts'
import type { Place, RefusalCode } from './refusals.ts'

/** A pod that no machine of the run has looked after. `workload`: of another workload than those of the run. */
export interface OverlookedPod {
  pod: string
  workload?: string
}

/** How a run ended, and what it told on its way. */
export interface RunReasons {
  /** The pods that decided how the run ended, each with its own reason. `failed` is the failure that came before that. */
  pods: { pods: { uid: string; pod: string; reason: Reason; failed?: Reason }[] }
  /** `left`: pods that the undone run had nothing to do with. `resolved`: by a person. */
  counts: { upgraded: number; already: number; left: number; resolved?: number }
  /** A run ended for several reasons. */
  several: { reasons: Reason[] }
  /** Pods that the run has not looked after: gone while they waited for their turn, or none of the request. */
  overlooked: { pods: OverlookedPod[] }
  /** An abort whose record could not be closed: the run is open, and the order stands. */
  'run-not-ended': { because: Reason }
  /** `open` is present where the abort was of another process's run: only its open pods count. */
  aborted: { by: string; upgraded: number; old: number; open?: number }
  /** With their ways out. */
  'plan-refused': { refusals: ReasonOf<RefusalCode>[] }
  'stopped-before-done': NoFields
  /** A second signal came, with pods under way. */
  'stopped-at-once': NoFields
  'interrupted-before-start': NoFields
  /** A pod failed that is gone by now, and the run has begun no further pod. */
  'not-begun': { pods: string[] }
  'not-ready-at-end': { pods: string[] }
  /** An open run that this command has not brought to its end. `run` is absent for the run itself. */
  'stays-open': { runs: { run?: string; pods: string[] }[] }
  /** Pods of a run that is over, on other images than these. */
  'on-other-images': { run?: string; pods: string[] }
  /** A pause has come to rest: nothing is under way. */
  paused: { by: string }
  /** No pod starts after a pod that ended badly. */
  'held-after': { pod: string; ending: 'failed' | 'rolledBack' | 'needsOperator' | 'overtaken' }
  /** No further pod is started. */
  interrupted: NoFields
  'abort-ordered': { by: string }
  'pause-ends-run': { by: string }
  /** The drain deadline was over, and `onDrainDeadline` is `proceed`. */
  'patched-with-requests': { pod: string; requests: number }
  'no-longer-selected': { pod: string }
  'watch-lost': Because
  'watch-trouble': Because

  /** An abort has left these templates as they are. */
  'aborted-but': { left: Reason[] }
  'template-not-put-back': { workload?: string } & Because
  'template-put-back': { images: { container: string; image: string }[] }
  /** Some pods run the new images: the template keeps them. */
  'template-kept': { workload: string; upgraded: number }
  /** The template is not part of this run any more. */
  'template-of-another-run': { workload: string }
  /** Pods that the template has made before it went back, and that are not ready. */
  'made-before-put-back': { pods: string[] }
  'revision-label-not-set': Because
  'patch-of-pod-refused': { pod: string } & Because

  'ledgers-not-removed': Because
  'ledger-not-closed': Because
  /** A newer sluice has a run of the workload on record: this one begins nothing there. */
  'ledger-of-newer-sluice': { run: string; problem: Reason }
  'ledger-unreadable': { run: string; problem: Reason }
  'ledgers-not-taken-over': { namespace: string; tries: number }
  'record-changed': { run: string }
  'run-ended-meanwhile': NoFields
  /** The pod has no journal and is out of rotation: an operator has it out, or somebody has removed the journal. */
  'journal-lost': { run: string; traffic: Reason }
  'left-half-done': { run: string; pods: string[] }
  'left-out-for-good': { run: string; pods: string[] }
  'say-how-pods-stand': { severalWorkloads: boolean }

  'lease-held': { lease: string; holder: string; pausedBy?: string }
  /** `holder` is empty where the Lease is nobody's, and absent where it was deleted. */
  'lease-taken': { lease: string; holder?: string }
  'lease-not-renewed': Because
  'lease-ran-out': NoFields
  'lease-lost': NoFields
  'lease-contested': { leases: string[] }
  /** Somebody has edited the epoch: no larger number is left. */
  'lease-counted-out': { lease: string; transitions: number; setBack: Command }
  /** The journal of a pod names an epoch beyond the largest that a Lease can count. */
  'epoch-too-large': { lease: string; epoch: number; largest: number; pod?: string }
  'load-balancer-not-asked': { loadBalancer?: string } & Because
  'effects-cannot-be-made': { loadBalancer: string; target: string; others: number } & Because
  /** A pod that is half done was not drained in an entry that has come since. */
  'half-done-elsewhere': { pod: string; entry: LoadBalancerEntry }
  /** A pod was patched without a drain, and the config does not name these containers in `drain.notFor` any more. */
  'half-done-undrained': { pod: string; containers: string[] }
  /** The record of a pod that is half done names a load balancer that the config does not have. */
  'half-done-not-in-config': { pod: string; place: Place; resolve: Command }
  /** The same of a pod that is gone. `targets`: all that may be drained for the pod in that load balancer. */
  'gone-not-in-config': { pod: string; target: string; place: Place; targets: string[]; resolve: Command }
}
