import type { EntryReading } from '../reasons/fields.ts'
import type { Reason } from '../reasons/reason.ts'
import type { RecordProblem } from '../reasons/record-reasons.ts'

/**
 * The words of sluice.
 *
 * - *pod upgrade*: one pod, from one set of images to another. *run*: the pod upgrades of one request, with an id.
 *   *window*: how many pods of a run may be out of rotation at once.
 * - *load balancer*: one configured adapter instance. *target*: one pod's entry in it. *scope*: the part of a load
 *   balancer that is written one call at a time.
 * - *effect*: a call that changes a load balancer, a *drain* or a *restore*. *intent*: its durable record, written
 *   before it. *ambiguous*: an effect of which nobody knows whether it happened.
 * - *journal*: the record of one pod upgrade, on the pod. *ledger*: the record of a run.
 *   *epoch*: grows each time a workload's owner changes. *attempt*: grows when a pod is drained anew after it was put back.
 * - *baseline*: the containers of a pod before the patch. *witness*: the container in the first status that has seen
 *   the patch; its replacement is the proof.
 */

export interface ContainerPort {
  name?: string
  port: number
  /** Where the node takes connections for it: its port, and the one address of the node, where that is not each. TCP alone. */
  host?: { port: number; ip?: string }
}

/** One container of a pod: spec and status side by side, in the order of the spec. */
export interface ContainerView {
  name: string
  /** `spec.containers[].image`. */
  image: string
  /** Place in `status.containerStatuses`, which is sorted by name, unlike the spec. */
  statusIndex?: number
  /** Such as `containerd://…`; absent before the first start, and while an image cannot be pulled for a new pod. */
  containerId?: string
  imageId?: string
  /** `status.containerStatuses[].image`: an arbitrary tag of the CRI for that digest, not always the one asked for. */
  statusImage?: string
  ready: boolean
  /** Called ready though no probe has run: milliseconds after which one would have failed. */
  unprobedMs?: number
  running: boolean
  /** Where it runs: by the node's clock, in whole seconds. */
  startedAt?: string
  /** Such as ErrImagePull, CrashLoopBackOff. */
  waitingReason?: string
  waitingMessage?: string
  restartCount: number
  lastTerminatedId?: string
  ports: ContainerPort[]
}

/** What sluice keeps of a Pod: about 1 KB instead of 20. */
export interface PodView {
  uid: string
  name: string
  namespace: string
  resourceVersion: string
  /** 0 where the API server gives none (before 1.34). */
  generation: number
  observedGeneration: number
  /** Has a deletionTimestamp. */
  deleting: boolean
  /** Until when it was to be gone, and what may hold it beyond that. */
  deletion?: { dueAt: string; finalizers: string[] }
  /** Succeeded or Failed: it will not run again. */
  finished: boolean
  ip?: string
  /** Of a dual-stack pod, in the other family. */
  otherIps?: readonly string[]
  node?: string
  /** Of its node. */
  hostIps?: readonly string[]
  hostNetwork: boolean
  /** Condition Ready. */
  ready: boolean
  /** Since when it is True, by the node's clock; absent where it is not, or nothing says. */
  readySince?: string
  /** Condition ContainersReady: stays True where only the node's heartbeat is late. */
  containersReady: boolean
  /** Readiness gates whose conditions are not True. */
  closedGates?: { type: string; status: string; message?: string }[]
  /** The node controller has set Ready to False: its kubelet has not reported for some time, and acts on nothing that is asked of it. */
  nodeIsSilent?: true
  /** `spec.containers` in their order. */
  containers: ContainerView[]
  /** Names of init containers, native sidecars among them. */
  initContainers: string[]
  /** Of native sidecars. */
  sidecarPorts?: ContainerView['ports']
  gracePeriodSeconds: number
  /** `spec.restartPolicy`, where it is not Always: containers that end are not started again in every case. */
  restartPolicy?: string
  /** The controlling owner. */
  owner?: { kind: string; name: string; uid: string; apiVersion: string }
  /** Label `controller-revision-hash`. */
  revision?: string
  /** `metadata.labels` exists; the path of a key in a missing map is an error in a JSON Patch. */
  hasLabels: boolean
  hasAnnotations: boolean
  /** The type of the first entry of `status.conditions`; absent where there is none. */
  firstCondition?: string
  journal: StoredJournal
}

/**
 * The two places of a pod's journal, both by the name `sluice.dev/journal`: an annotation, and the message of a condition.
 * A write into the condition removes the annotation, so that where there is an annotation it was written last.
 */
export interface StoredJournal {
  annotation?: string
  condition?: {
    /** In `status.conditions`. */
    index: number
    message?: string
  }
}

/** What the EndpointSlices of one Service that one controller keeps say of a pod. */
export interface PodEndpoint {
  /** The Service and the controller: slices are made anew under other names. */
  source: string
  /** The slices that have the pod, and not as ready. */
  unready: readonly string[]
  /** Kept by the cluster's own controller, which takes over the Ready of the pod. */
  followsReady: boolean
}

export interface ContainerImage {
  container: string
  image: string
}

/** The kubelet has taken an image to start a container from: its Event `Pulled`. */
export interface ImagePull {
  container: string
  /** As the spec names it. */
  image: string
  /** The last time, by the node's clock, in whole seconds. */
  at: string
}

export interface BaselineContainer {
  name: string
  image: string
  containerId?: string
  imageId?: string
}

/** One target of a pod as the journal keeps it, with the state to put back. */
export interface JournalTarget {
  loadBalancer: string
  target: string
  scope: string
  /** The adapter's own canonical form. */
  prior: unknown
  /** An operator had it out of rotation: it gets no effect. */
  untouched: boolean
  /**
   * A person has looked, and says so: it counts where the load balancer cannot be read. `out` only until the restore; `in` is
   * said in the middle of that, of a part: it is as it should be, and nothing is put back or compared there.
   */
  said?: 'out' | 'in'
}

/**
 * - `drain`: the pod's targets may be drained; nothing was patched
 * - `patched`: the images were patched in the same write
 * - `restore`: the pod's targets may be restored
 * - `closed`: all is done; the fence against a stale owner's first write
 */
export type JournalStep = 'drain' | 'patched' | 'restore' | 'closed'

/** When somebody had a Lease, by its uid: epochs are compared within one Lease. */
export interface Term {
  lease: string
  epoch: number
}

/** The record of one pod upgrade: facts that cannot be observed, and no state name. */
export interface Journal {
  run: string
  /** The run that opened this attempt, where another one has adopted it: operation ids keep its name. */
  origin?: string
  epoch: number
  /** Of a drain intent: the uid of the Lease that the epoch is of. */
  lease?: string
  attempt: number
  step: JournalStep
  /**
   * `metadata.generation` that the image patch makes; present exactly where images were patched in this attempt.
   * 0 where the API server gives no generation.
   */
  generation?: number
  /** The generation whose spec the pod's containers are known to run; absent where that is not known, or the API server gives none. */
  proven?: number
  /** The images that a pod which failed was patched back to: durable, so that whoever resumes goes on with that. */
  rollback?: ContainerImage[]
  /** How often it was written anew so that an images patch which nobody had answered changes nothing any more; absent for never. */
  fence?: number
  baseline: BaselineContainer[]
  /** By their sources, the endpoints that have to be ready again; absent where there are none. */
  endpoints?: string[]
  targets: JournalTarget[]
  /**
   * The pod is not drained, since the config names these containers in `drain.notFor`: this attempt changes no other one, and has no
   * targets. Absent where the pod is drained.
   */
  undrained?: string[]
}

/** What the journal of a pod says. What cannot be read is never taken for "nothing open". */
export type ReadJournal = { kind: 'none' } | { kind: 'read'; journal: Journal } | { kind: 'unreadable'; problem: RecordProblem }

/** What all targets of a pod together say of its traffic, read from the load balancers. */
export interface TrafficReading {
  /** `out`: no target takes new requests; `in`: every one that sluice may touch does; `unknown`: at least one cannot be read. */
  state: 'out' | 'in' | 'mixed' | 'unknown'
  /** `unknown` for good: one of its load balancers cannot be read, and has not answered the last call. */
  hidden?: true
  /** One of its load balancers cannot be read, and what it is taken to be is no answer of its own. */
  supposed?: true
  /** None of its entries is there any more, at whatever address: `out` where it was known to be out before, else `mixed`. */
  removed?: boolean
  /** A call of this run that nobody answered may still change it. */
  pending?: true
  /** One of its load balancers may still say what was before the last call to it. */
  old?: true
  /** One that an operator had out of rotation, and that sluice therefore has not drained, takes requests now. */
  reclaimed?: EntryReading
  /** Requests under way over all targets; null where one of them cannot know. */
  inFlight: number | null
  /** One of its load balancers waits itself for what is under way: not empty, whatever the count. */
  emptying?: true
  /** What the entries say, or why they say nothing. */
  detail: Reason
}
