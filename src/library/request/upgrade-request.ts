import type { RunSettings } from '../../engine/run.ts'
import type { WorkloadRef } from '../../plan/plan.ts'

/**
 * `TYPE/NAME` as kubectl has it, such as `statefulset/web`, `sts/web` or `pod/web-0`; or the same as an object, such as a plan has. A
 * `namespace` in it is that of the request.
 */
export type WorkloadName = string | (Pick<WorkloadRef, 'kind' | 'name'> & Partial<WorkloadRef>)

/** What a request is about: workloads and pods by name, or pods by their labels. */
export interface WorkloadChoice {
  workload?: WorkloadName | readonly WorkloadName[]
  /** In place of `workload`, such as `app=web,tier!=cache`. */
  labelSelector?: string
  /** Absent: that of the workloads where they have one, else that of the cluster handle. */
  namespace?: string
}

/** Settings of one run over those of the config. Durations are whole milliseconds. */
export interface RequestSettings extends Partial<Omit<RunSettings, 'maxUnavailable'>> {
  /** A number of pods, or a share of them such as `'25%'`. */
  maxUnavailable?: number | string | RunSettings['maxUnavailable']
}

/** How long a pod that is out may take to come home. */
export type HomeSettings = Pick<
  RequestSettings,
  'restartDeadlineMs' | 'rollbackDeadlineMs' | 'readyDeadlineMs' | 'restoreDeadlineMs'
>

/** The open runs of these workloads are ended. */
export interface AbortRequest extends WorkloadChoice {
  /** Over those of the config, where no living process has the runs and this one ends them. */
  settings?: HomeSettings
}

/** How an upgrade or an undo goes about it. */
export interface RequestOptions {
  settings?: RequestSettings
  /** Patch the pods of a Deployment though its template then differs. */
  acceptTemplateDrift?: boolean
  /** Upgrade pods that are in none of the load balancers, without a drain. */
  allowUnbalanced?: boolean
  /** Load balancers that earlier runs used and that the config does not have: somebody says that they serve these pods no more. */
  retiredLoadBalancers?: readonly string[]
  /** End with the outcome `paused` once a pause has come to rest. Absent: the run waits for the end of the pause. */
  endWhenPaused?: boolean
}

/** An upgrade of the pods of one or several workloads. */
export interface UpgradeRequest extends WorkloadChoice, RequestOptions {
  /** The image of each container, by the container's name. Absent or empty: bring the pods to the template of their workload. */
  images?: Readonly<Record<string, string>>
  /** Takes an earlier run back, in place of `images`: this run, or where it names none the newest that has changed anything. */
  undo?: { run?: string }
}

/** An earlier run is taken back, pod by pod: this run, or the newest that has changed anything. */
export interface UndoRequest extends WorkloadChoice, RequestOptions {
  run?: string
}
