import type { PatchOperation } from '../kube/client.ts'
import type { PodSelection } from '../observation/pod-record.ts'
import type { ContainerImage, PodView } from '../pods/glossary.ts'
import type { PlanTemplate, Refusal, WorkloadRef } from '../plan/plan.ts'
import type { Kind } from './kinds/kind.ts'
import type { Reason } from '../reasons/reason.ts'
import type { CountedPods } from './records.ts'

/** What an in-place upgrade of a workload's pods to some images would take, decided without touching anything. */
export interface Assessment {
  /** The images per container: as asked, or the template's own where none were asked for. */
  images: ContainerImage[]
  /** Absent where there is no template (bare pods), its kind says that it must not be touched, or it has the images already. */
  template?: PlanTemplate
  refusals: Refusal[]
  warnings: Reason[]
}

export interface PrepareOptions {
  signal: AbortSignal
  /**
   * Asked before each write: a process that was stopped would else write what a later owner has taken back since. Undefined where nobody
   * can say, since the API server does not answer: that is waited for.
   */
  isOwned: () => Promise<boolean | undefined>
  /**
   * Where a process before may have sent another template: from here on none of its writes is carried out any more, also where the
   * template is as wanted. A value that no other owner sets.
   */
  fence?: string | undefined
  /** What was done, and what is waited for now. */
  onProgress?: (reason: Reason) => void
}

/** `left` where somebody has changed it since, or it cannot be. */
export type PutBack = { kind: 'done' } | { kind: 'left'; reason: Reason }

/** The template is no longer the one that this run pinned. */
export interface Drift {
  reason: Reason
}

/**
 * One owner of pods: which pods are its, and how its template and its count of updated pods are kept right while
 * pods are patched in place. Level-based: everything is decided from the last observed objects, kept by watches.
 */
export interface Workload {
  readonly kind: Kind
  readonly ref: WorkloadRef
  readonly uid: string
  /** For the view of its pods. */
  readonly selector: PodSelection
  owns(pod: PodView): boolean
  /** How many pods its controller is to keep; undefined where nobody says. */
  desired(): number | undefined
  /** For so long a pod has to be Ready until its owner counts it as available; 0 where nobody says. */
  minReadyMs(): number
  /** What its controller says of that, of the objects as they are now; undefined where it has not said so yet. */
  counted(): CountedPods | undefined
  /** A pod in the place of this one, once it is gone, is to be expected: false where it was scaled down, as far as that is known of now. */
  replaces(pod: PodView): boolean
  /**
   * Decides on the newest observed objects. `pods` are those of its pods that the request is about; among them, those
   * that are being deleted or have finished count for nothing. `prepare` insists on the template that the last
   * assessment saw.
   */
  assess(images: readonly ContainerImage[], pods: readonly PodView[]): Assessment
  /**
   * Patches the template where it differs (guarded), waits until the controller has observed it, and pins the update
   * revision. `images` are those of the assessment. Idempotent. Rejects with a WorkloadError where that cannot be had,
   * and with the signal's reason once it fires.
   */
  prepare(images: readonly ContainerImage[], options: PrepareOptions): Promise<void>
  /**
   * Gives the template the images back that a run has found there, where it still has those that the run has set. From
   * then on nothing is drift. Rejects as `prepare` does.
   */
  putBack(former: readonly ContainerImage[], set: readonly ContainerImage[], options: PrepareOptions): Promise<PutBack>
  /** Operations that go with the image patch of a pod, so that the owner counts it as updated. Only after `prepare`. */
  podOperations(pod: PodView): PatchOperation[]
  /** True where the pod carries the pinned revision (or there is none to carry). Only after `prepare`. */
  hasRevision(pod: PodView): boolean
  /**
   * Called at most once, and at once where it has happened already: the template was edited by someone else after
   * `prepare`, the update strategy is another, or the workload is gone. A scale is no drift.
   */
  onDrift(listener: (drift: Drift) => void): void
  /** What `desired` and `replaces` say is known of now. */
  isCurrent(): boolean
  /** It is not, since it could not be watched. */
  isBroken(): boolean
  /** Called whenever its object was observed anew, or `isCurrent` has changed: what `desired` and `replaces` say may have too. */
  onChange(listener: () => void): void
  /** Asks for it anew: resolves once what is known is of now. */
  refresh(): Promise<void>
  stop(): Promise<void>
}
