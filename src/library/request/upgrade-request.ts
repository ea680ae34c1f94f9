import type { RunSettings } from '../../engine/run.ts'
import type { WorkloadRef } from '../../plan/plan.ts'

/**
 * `TYPE/NAME` as for kubectl, such as `statefulset/web`, `sts/web` or `pod/web-0`; or an object with these parts, as in a plan. The
 * `namespace` of such an object is the namespace of the request.
 */
export type WorkloadName = string | (Pick<WorkloadRef, 'kind' | 'name'> & Partial<WorkloadRef>)

/** The workloads and pods of a request: by name, or pods by their labels. */
export interface WorkloadChoice {
  workload?: WorkloadName | readonly WorkloadName[]
  /** A label selector of pods in place of `workload`, such as `app=web,tier!=cache`. */
  labelSelector?: string
  /** The namespace. Default: that of the workloads, else that of the cluster handle. */
  namespace?: string
}

/** Settings of one run, which override those of the config. Durations are whole milliseconds. */
export interface RequestSettings extends Partial<Omit<RunSettings, 'maxUnavailable'>> {
  /** A number of pods, or a percentage of them such as `'25%'`. */
  maxUnavailable?: number | string | RunSettings['maxUnavailable']
}

/** The deadlines for the return of a pod to rotation. */
export type HomeSettings = Pick<
  RequestSettings,
  'restartDeadlineMs' | 'rollbackDeadlineMs' | 'readyDeadlineMs' | 'restoreDeadlineMs'
>

/** Ends the open runs of these workloads. */
export interface AbortRequest extends WorkloadChoice {
  /** Settings that override those of the config, if no living process has the runs and this process ends them. */
  settings?: HomeSettings
}

/** Options of an upgrade or an undo. */
export interface RequestOptions {
  settings?: RequestSettings
  /** Patch the pods of a Deployment, although its template then differs from them. */
  acceptTemplateDrift?: boolean
  /** Upgrade pods without an entry in any load balancer, without a drain. */
  allowUnbalanced?: boolean
  /** Load balancers of earlier runs that the config no longer has. The caller states that they no longer serve these pods. */
  retiredLoadBalancers?: readonly string[]
  /** End with the outcome `paused` once a pause has taken effect. Default: the run waits for the end of the pause. */
  endWhenPaused?: boolean
}

/** An upgrade of the pods of one or several workloads. */
export interface UpgradeRequest extends WorkloadChoice, RequestOptions {
  /** The image of each container, by container name. If absent or empty, the pods get the images of their workload's template. */
  images?: Readonly<Record<string, string>>
  /** Undoes an earlier run, in place of `images`: the named run, or without a name the newest run that has changed something. */
  undo?: { run?: string }
}

/** Undoes an earlier run, pod by pod: the named run, or the newest run that has changed something. */
export interface UndoRequest extends WorkloadChoice, RequestOptions {
  run?: string
}
