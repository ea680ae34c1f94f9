import type { EntryReading } from '../reasons/fields.ts'
import type { Reason } from '../reasons/reason.ts'
import type { RecordProblem } from '../reasons/record-reasons.ts'

/**
 * The terms of sluice.
 *
 * - *pod upgrade*: the upgrade of one pod from one set of images to another. *run*: the pod upgrades of one request, with an id. *window*:
 *   the number of pods of a run that may be out of rotation at once.
 * - *load balancer*: one configured adapter instance. *target*: one pod's entry in it. *scope*: the part of a load balancer that is written
 *   by one call at a time.
 * - *effect*: a call that changes a load balancer, a *drain* or a *restore*. *intent*: the durable record of an effect, written before it.
 *   *ambiguous*: an effect of which it is not known whether it happened.
 * - *journal*: the record of one pod upgrade, on the pod. *ledger*: the record of a run. *epoch*: a number that grows each time a
 *   workload's owner changes. *attempt*: a number that grows when a pod is drained again after it was put back.
 * - *baseline*: the containers of a pod before the patch. *witness*: the container in the first status that has seen the patch; its
 *   replacement is the proof.
 */

export interface ContainerPort {
  name?: string
  port: number
  /** The host port, and the one address of the node if the port is bound to one. TCP only. */
  host?: { port: number; ip?: string }
}

/** One container of a pod, with its spec and its status. Containers have the order of the spec. */
export interface ContainerView {
  name: string
  /** `spec.containers[].image`. */
  image: string
  /** Index in `status.containerStatuses`, which is sorted by name, unlike the spec. */
  statusIndex?: number
  /** Such as `containerd://…`. Absent before the first start, and while the image of a new pod cannot be pulled. */
  containerId?: string
  imageId?: string
  /** `status.containerStatuses[].image`: an arbitrary tag for the digest from the CRI, not always the requested tag. */
  statusImage?: string
  ready: boolean
  /** Milliseconds after which a failing probe would have shown. Present if the container counts as ready although no probe has run. */
  unprobedMs?: number
  running: boolean
  /** The start of a running container, by the node's clock, in whole seconds. */
  startedAt?: string
  /** Reason of the waiting state, such as ErrImagePull or CrashLoopBackOff. */
  waitingReason?: string
  waitingMessage?: string
  restartCount: number
  lastTerminatedId?: string
  ports: ContainerPort[]
}

/** The fields of a Pod that sluice keeps: about 1 KB instead of 20. */
export interface PodView {
  uid: string
  name: string
  namespace: string
  resourceVersion: string
  /** 0 if the API server has no generation for pods (before 1.34). */
  generation: number
  observedGeneration: number
  /** The pod has a deletionTimestamp. */
  deleting: boolean
  /** The time at which the deleted pod was due to be gone, and the finalizers that may delay its end. */
  deletion?: { dueAt: string; finalizers: string[] }
  /** The phase is Succeeded or Failed: the pod will not run again. */
  finished: boolean
  ip?: string
  /** The addresses of a dual-stack pod in the other IP family. */
  otherIps?: readonly string[]
  node?: string
  /** The addresses of the pod's node. */
  hostIps?: readonly string[]
  hostNetwork: boolean
  /** Condition Ready. */
  ready: boolean
  /** The time since when Ready is True, by the node's clock. Absent if it is not True, or if the time is not recorded. */
  readySince?: string
  /** Condition ContainersReady. It stays True if only the node's heartbeat is late. */
  containersReady: boolean
  /** Readiness gates whose conditions are not True. */
  closedGates?: { type: string; status: string; message?: string }[]
  /**
   * The node controller has set Ready to False, because the kubelet has not reported for some time. Such a kubelet may not act on a patch.
   */
  nodeIsSilent?: true
  /** `spec.containers`, in their order. */
  containers: ContainerView[]
  /** The names of the init containers, including native sidecars. */
  initContainers: string[]
  /** The ports of native sidecars. */
  sidecarPorts?: ContainerView['ports']
  gracePeriodSeconds: number
  /** `spec.restartPolicy`, unless it is Always. With another policy the kubelet does not restart every container that ends. */
  restartPolicy?: string
  /** The controlling owner. */
  owner?: { kind: string; name: string; uid: string; apiVersion: string }
  /** Label `controller-revision-hash`. */
  revision?: string
  /** True if `metadata.labels` exists. In a JSON Patch, the path of a key in a missing map is an error. */
  hasLabels: boolean
  hasAnnotations: boolean
  /** The type of the first entry of `status.conditions`; absent if there is no entry. */
  firstCondition?: string
  journal: StoredJournal
}

/**
 * The two places of a pod's journal, both named `sluice.dev/journal`: an annotation, and the message of a condition. A write to the
 * condition removes the annotation, so an annotation that exists is the later write.
 */
export interface StoredJournal {
  annotation?: string
  condition?: {
    /** Index in `status.conditions`. */
    index: number
    message?: string
  }
}

/** The state of a pod in the EndpointSlices of one Service and one controller. */
export interface PodEndpoint {
  /** The Service and the controller. The names of the slices are not stable, because controllers replace slices. */
  source: string
  /** The names of the slices that contain the pod as not ready. */
  unready: readonly string[]
  /** True for the slices of the Kubernetes EndpointSlice controller, which copies the pod's readiness. */
  followsReady: boolean
}

export interface ContainerImage {
  container: string
  image: string
}

/** The Event `Pulled`: the kubelet has an image ready to start a container from. */
export interface ImagePull {
  container: string
  /** The image as the spec names it. */
  image: string
  /** The time of the last occurrence, by the node's clock, in whole seconds. */
  at: string
}

export interface BaselineContainer {
  name: string
  image: string
  containerId?: string
  imageId?: string
}

/** One target of a pod in the journal, with the state to restore. */
export interface JournalTarget {
  loadBalancer: string
  target: string
  scope: string
  /** The state before the drain, in the adapter's canonical form. */
  prior: unknown
  /** True if an operator had the target out of rotation; sluice sends no call for it. */
  untouched: boolean
  /**
   * The statement of a person about the target; it applies while the load balancer is not readable. `out` applies only until the restore.
   * `in` belongs to a partial restore: the target is in order, and is neither restored nor compared.
   */
  said?: 'out' | 'in'
}

/**
 * - `drain`: the pod's targets may be drained; nothing is patched
 * - `patched`: the images are patched in the same write
 * - `restore`: the pod's targets may be restored
 * - `closed`: the upgrade of the pod is over; this step is the fence against a late first write of a former owner
 */
export type JournalStep = 'drain' | 'patched' | 'restore' | 'closed'

/** A holder's term of a Lease, with the uid of the Lease: epochs are comparable within one Lease only. */
export interface Term {
  lease: string
  epoch: number
}

/** The record of one pod upgrade. It contains facts that cannot be observed, and no state name. */
export interface Journal {
  run: string
  /** The run that opened this attempt, if another run has adopted it. Operation ids keep the name of the origin. */
  origin?: string
  epoch: number
  /** The uid of the Lease that the epoch belongs to; for a drain intent. */
  lease?: string
  attempt: number
  step: JournalStep
  /**
   * `metadata.generation` that the image patch makes. Present exactly if images were patched in this attempt. 0 if the API server has no
   * generation for pods.
   */
  generation?: number
  /**
   * The generation whose spec the pod's containers are proven to run. Absent if that is not known, or the API server has no generation for
   * pods.
   */
  proven?: number
  /** The images that a failed pod was patched back to. The record is durable, so that a later run goes on with the rollback. */
  rollback?: ContainerImage[]
  /** The number of rewrites that fence off an images patch without an answer, so that a late patch has no effect. Absent for none. */
  fence?: number
  baseline: BaselineContainer[]
  /** The sources of the endpoints that have to be ready again; absent if there are none. */
  endpoints?: string[]
  targets: JournalTarget[]
  /**
   * The containers that this attempt changes without a drain, because the config names them in `drain.notFor`. It changes no other
   * container, and has no targets. Absent if the pod is drained.
   */
  undrained?: string[]
}

/** The content of a pod's journal. An unreadable journal never counts as "nothing open". */
export type ReadJournal = { kind: 'none' } | { kind: 'read'; journal: Journal } | { kind: 'unreadable'; problem: RecordProblem }

/** The traffic of a pod, as read from all its targets in the load balancers. */
export interface TrafficReading {
  /** `out`: no target takes new requests; `in`: every target that sluice may change takes them; `unknown`: at least one is not readable. */
  state: 'out' | 'in' | 'mixed' | 'unknown'
  /** The state is permanently `unknown`: a load balancer is not readable, and has not answered the last call. */
  hidden?: true
  /** A load balancer is not readable, and its state is an assumption. */
  supposed?: true
  /** None of the pod's entries exists any more, at any address. The state is `out` if the pod was known to be out before, else `mixed`. */
  removed?: boolean
  /** An unanswered call of this run may still change the state. */
  pending?: true
  /** The reading of a load balancer may be from before the last call to it. */
  old?: true
  /** An entry that an operator had out of rotation, and that sluice therefore has not drained, takes requests now. */
  reclaimed?: EntryReading
  /** Requests under way over all targets; null if one of the load balancers does not report them. */
  inFlight: number | null
  /** A load balancer waits itself for requests under way, so the pod is not empty, whatever the count is. */
  emptying?: true
  /** The content of the entries, or the reason why they are not readable. */
  detail: Reason
}
