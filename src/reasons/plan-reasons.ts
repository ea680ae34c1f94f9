import type { Command } from './command.ts'
import type { Because, LoadBalancerEntry, NamedImage, NoFields } from './fields.ts'
import type { Place, TemplateDrift } from './refusals.ts'
import type { Reason, ReasonOf } from './reason.ts'

/** The reasons and warnings of a plan. */
export interface PlanReasons {
  /** An earlier run has drained the pod; this run goes on with the patch. */
  'goes-on-with-patch': NoFields
  /** An earlier run has patched the pod; this run goes on from there. */
  'goes-on-from-patch': NoFields
  /** An earlier run was putting the pod back; this run goes on with that. */
  'goes-on-with-restore': NoFields
  /** An earlier run changes these containers without a drain; this run finishes that first. */
  'goes-on-without-drain': { containers: string[] }
  'goes-on-with-rollback': { images: NamedImage[] }
  'no-container': { container: string }
  /** The undone run did not change the pod. */
  'not-of-undone-run': { run: string }
  /**
   * `kept`: the pod stays in rotation, because `drain.notFor` names every container that changes. `lookedFor`: the load balancers without
   * an entry of the pod, if that is allowed.
   */
  'to-upgrade': {
    rotation: 'in' | 'operator' | 'none' | 'kept'
    standing?: ReasonOf<'terminating' | 'readiness-gates-closed' | 'node-silent' | 'pod-not-ready'>
    lookedFor: ReasonOf<'no-entry-at' | 'pod-without-address' | 'no-port'>[]
    waitsForNode: boolean
  }

  'not-in-every-load-balancer': { pod: string; stays: boolean } & Because
  /** A pod is gone, and its entries need a decision of a person. */
  'awaits-person': { pod: string; entries: LoadBalancerEntry[]; replacementAt?: string; resolve: Command }
  'no-pod-can-start': Because
  'min-ready-longer': { workload: string; minReadyMs: number }
  /** The run includes only a part of the workload's pods. */
  'part-of-workload': { workload: string; pods: number; replicas: number }
  'other-image-stays': { pods: string[]; workload: string; container: string; image: string; templateImage?: string }
  'template-unchanged': TemplateDrift
  'load-balancer-retired': { place: Place; run: string }
  'controller-behind': { generation: number; observed: number }
  'pods-of-several': { made: string; names: string[] }
  'pods-behind-template': { updated: number; replicas: number }
  /** `upgrade`: brings the pods to the template after the template is put back. */
  'stays-on-release': { workload: string; pods: number; of: number; run: string; upgrade?: Command }
  'released-since': { workload: string; pods: number; of: number; run: string }
  /** `undo`: takes back the run before this one. */
  'nothing-to-take-back': { run: string; by: string; undo?: Command }
  'run-ordered': {
    run: string
    order: 'pause' | 'abort'
    by: string
    command: 'upgrade' | 'undo'
    exitWhenPaused: boolean
  }
  /** The paused run stays open, and this run takes over its open work. The pause applies to the paused run only. */
  'pause-left-behind': { run: string; by: string }
  'orders-not-known': { because: Reason }
  /** The Lease has a holder. A run gives its Lease back at its end; a plan does not wait to see whether the holder is alive. */
  'lease-may-be-held': { lease: string; holder: string; command: 'upgrade' | 'undo' }
  'rights-not-asked': { because: Reason }
  'rights-missing': { namespace: string; rights: string[] }
  /** An accepted change may take longer than the deadline. */
  'deadline-shorter-than-job': { deadline: string; deadlineMs: number; loadBalancer: string; longestMs: number }
  /** New requests may arrive for longer than the deadline after a drain. */
  'deadline-shorter-than-settle': { deadline: string; deadlineMs: number; loadBalancer: string; settleMs: number }
}
