import type { PatchOperation } from '../kube/client.ts'
import type { PodSelection } from '../observation/pod-record.ts'
import type { ContainerImage, PodView } from '../pods/glossary.ts'
import type { PlanTemplate, Refusal, WorkloadRef } from '../plan/plan.ts'
import type { Kind } from './kinds/kind.ts'
import type { Reason } from '../reasons/reason.ts'
import type { CountedPods } from './records.ts'

/** The assessment of an in-place upgrade of a workload's pods to some images. It changes nothing. */
export interface Assessment {
  /** The image of each container: as requested, or without a request that of the template. */
  images: ContainerImage[]
  /**
   * The planned change of the template. Absent if there is no template (bare pods), if the kind does not allow the change, or if the
   * template has the images already.
   */
  template?: PlanTemplate
  refusals: Refusal[]
  warnings: Reason[]
}

export interface PrepareOptions {
  signal: AbortSignal
  /**
   * Called before each write, so that a process that was stopped does not overwrite the work of a later owner. Undefined if the API server
   * does not answer; the write then waits.
   */
  isOwned: () => Promise<boolean | undefined>
  /**
   * A value for the fence, unique to this owner. It is set if a former process may have sent another template: from then on none of its
   * writes takes effect, even if the template is as wanted already.
   */
  fence?: string | undefined
  /** Called with each finished step, and with the awaited condition. */
  onProgress?: (reason: Reason) => void
}

/** The result of putting a template back. `left`: another client has changed the template since, or it cannot be put back. */
export type PutBack = { kind: 'done' } | { kind: 'left'; reason: Reason }

/** The template is no longer the one that this run pinned. */
export interface Drift {
  reason: Reason
}

/**
 * One owner of pods. It knows its pods, and keeps its template and its count of updated pods right while pods are patched in place.
 * Level-based: every decision uses the last observed objects, which watches keep current.
 */
export interface Workload {
  readonly kind: Kind
  readonly ref: WorkloadRef
  readonly uid: string
  /** The selector for the view of its pods. */
  readonly selector: PodSelection
  owns(pod: PodView): boolean
  /** The number of pods that the controller should keep; undefined if that is not known. */
  desired(): number | undefined
  /** The time for which a pod has to be Ready before its owner counts it as available; 0 if it is not known. */
  minReadyMs(): number
  /**
   * The Ready and the available pods in the controller's count for the current objects; undefined if the controller has not counted yet.
   */
  counted(): CountedPods | undefined
  /** True if a replacement of this pod is expected once the pod is gone. False if a current view shows that it was scaled down. */
  replaces(pod: PodView): boolean
  /**
   * Decides by the newest observed objects. `pods` are the pods of the request; among them, deleted and finished pods are ignored.
   * `prepare` requires the template that the last assessment saw.
   */
  assess(images: readonly ContainerImage[], pods: readonly PodView[]): Assessment
  /**
   * Patches the template if it differs (guarded), waits until the controller has observed it, and pins the update revision. `images` are
   * those of the assessment. Idempotent. Rejects with a WorkloadError on failure, and with the signal's reason when it fires.
   */
  prepare(images: readonly ContainerImage[], options: PrepareOptions): Promise<void>
  /**
   * Restores the images that a run found in the template, if the template still has the images that the run set. From then on no change is
   * drift. Rejects as `prepare` does.
   */
  putBack(former: readonly ContainerImage[], set: readonly ContainerImage[], options: PrepareOptions): Promise<PutBack>
  /** Operations for the image patch of a pod, by which the owner counts the pod as updated. Valid after `prepare` only. */
  podOperations(pod: PodView): PatchOperation[]
  /** True if the pod carries the pinned revision, or if there is none. Valid after `prepare` only. */
  hasRevision(pod: PodView): boolean
  /**
   * Calls the listener at most once, and at once if drift has occurred already: another client edited the template after `prepare`, the
   * update strategy changed, or the workload is gone. A change of the scale is no drift.
   */
  onDrift(listener: (drift: Drift) => void): void
  /** True if `desired` and `replaces` are based on current objects. */
  isCurrent(): boolean
  /** True if they are not current because watching failed. */
  isBroken(): boolean
  /**
   * Calls the listener after each observation of the workload, and when `isCurrent` changes; `desired` and `replaces` may have changed
   * then.
   */
  onChange(listener: () => void): void
  /** Reads the objects anew; resolves when they are current. */
  refresh(): Promise<void>
  stop(): Promise<void>
}
