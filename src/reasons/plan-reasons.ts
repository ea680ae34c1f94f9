import type { Command } from './command.ts'
import type { Because, LoadBalancerEntry, NamedImage, NoFields } from './fields.ts'
import type { Place, TemplateDrift } from './refusals.ts'
import type { Reason, ReasonOf } from './reason.ts'

/** What a plan says of its pods, and warns of. */
export interface PlanReasons {
  /** An earlier run has drained the pod. */
  'goes-on-with-patch': NoFields
  /** An earlier run has patched the pod. */
  'goes-on-from-patch': NoFields
  /** An earlier run was putting the pod back. */
  'goes-on-with-restore': NoFields
  /** An earlier run changes these containers without a drain. */
  'goes-on-without-drain': { containers: string[] }
  'goes-on-with-rollback': { images: NamedImage[] }
  'no-container': { container: string }
  /** The run that is undone had nothing to do with the pod. */
  'not-of-undone-run': { run: string }
  /**
   * `kept`: the pod stays in rotation, since `drain.notFor` names each container that changes. `lookedFor`: the load balancers that
   * lack the pod, where that is let through.
   */
  'to-upgrade': {
    rotation: 'in' | 'operator' | 'none' | 'kept'
    standing?: ReasonOf<'terminating' | 'readiness-gates-closed' | 'node-silent' | 'pod-not-ready'>
    lookedFor: ReasonOf<'no-entry-at' | 'pod-without-address' | 'no-port'>[]
    waitsForNode: boolean
  }

  'not-in-every-load-balancer': { pod: string; stays: boolean } & Because
  /** A pod that is gone waits for a person. */
  'awaits-person': { pod: string; entries: LoadBalancerEntry[]; replacementAt?: string; resolve: Command }
  'no-pod-can-start': Because
  'min-ready-longer': { workload: string; minReadyMs: number }
  /** The run has some of the pods of the workload. */
  'part-of-workload': { workload: string; pods: number; replicas: number }
  'other-image-stays': { pods: string[]; workload: string; container: string; image: string; templateImage?: string }
  'template-unchanged': TemplateDrift
  'load-balancer-retired': { place: Place; run: string }
  'controller-behind': { generation: number; observed: number }
  'pods-of-several': { made: string; names: string[] }
  'pods-behind-template': { updated: number; replicas: number }
  /** `upgrade`: brings the pods to the template once that is back. */
  'stays-on-release': { workload: string; pods: number; of: number; run: string; upgrade?: Command }
  'released-since': { workload: string; pods: number; of: number; run: string }
  /** `undo`: takes the run before it back. */
  'nothing-to-take-back': { run: string; by: string; undo?: Command }
  'run-ordered': {
    run: string
    order: 'pause' | 'abort'
    by: string
    command: 'upgrade' | 'undo'
    exitWhenPaused: boolean
  }
  /** The run stays open for this one to take over, and the pause holds for it alone. */
  'pause-left-behind': { run: string; by: string }
  'orders-not-known': { because: Reason }
  /** A Lease is given back at the end of a run. A plan does not wait to see whether its holder lives. */
  'lease-may-be-held': { lease: string; holder: string; command: 'upgrade' | 'undo' }
  'rights-not-asked': { because: Reason }
  'rights-missing': { namespace: string; rights: string[] }
  /** A change that was accepted may take longer than the deadline. */
  'deadline-shorter-than-job': { deadline: string; deadlineMs: number; loadBalancer: string; longestMs: number }
  /** New requests may come for longer after a drain. */
  'deadline-shorter-than-settle': { deadline: string; deadlineMs: number; loadBalancer: string; settleMs: number }
}
