import type { Command } from './command.ts'
import type { NamedImage, NoFields } from './fields.ts'
import type { Reason } from './reason.ts'
import type { Difference } from './template-reasons.ts'

/** A load balancer, or one scope of it. */
export interface Place {
  loadBalancer: string
  scope?: string
}

/** Pods or a workload, by their display names. */
export type Subject = { pods: string[] } | { workload: string }

/**
 * Pods that their owner would replace with pods on other images than the run gives them.
 * - `pod`: the only pod of the owner in this run
 * - `made`: the kind of the intermediate object that makes the pods, such as ReplicaSet
 * - `by`: the kind that makes another intermediate object when its template changes; absent if there is none
 * - `images`: the unchanged images of the template; empty if it is not read
 */
export interface TemplateDrift {
  owner: string
  pod?: string
  made: string
  by?: string
  images: NamedImage[]
}

/** The reasons why a plan cannot be carried out. Nothing was changed. */
export interface Refusals {
  'container-twice': { container: string }
  'init-container': { of: Subject; container: string; known: string[] }
  'unknown-container': { of: Subject; container: string; known: string[] }
  /**
   * An earlier run has left entries out of rotation.
   * - `half-done`: the pod exists, and its upgrade is half done; `not-asked`: the same, for a pod outside of this request
   * - `pod-gone`: the pod is gone, and its entry is drained; `pod-gone-unsure`: its entry may be drained
   * - `journal-lost`: the pod exists without its journal
   * - `gone-for-good`: no replacement was expected, and the entries stay out
   */
  'left-open': {
    run: string
    pod: string
    standing: 'half-done' | 'not-asked' | 'pod-gone' | 'pod-gone-unsure' | 'journal-lost' | 'gone-for-good'
    traffic?: Reason
    /** The workloads whose request continues the run, for a request by label. */
    workloads?: string[]
    /** Reports the state of the pod's entries. */
    resolve?: Command
  }
  /** A load balancer in the record of an earlier run is missing in the config. */
  'load-balancer-dropped': { loadBalancer: string; places: Place[]; run: string; pods: number; workloads: string[] }
  'min-ready-too-long': { workload: string; minReadyMs: number; readyDeadlineMs: number }
  'no-address': { pod: string; because: Reason }
  'no-image': { pod: string }
  'no-pods': NoFields
  /** `isThere`: the load balancer has entries of the pod nevertheless. */
  'not-in-load-balancer': { pod: string; because: Reason; isThere: boolean }
  'restart-policy': { pods: string[]; policy: string }
  /** `images`: the images with which the template would match the pods. */
  'revision-differs': { workload: string; pods: string[]; differences: Difference[]; images?: NamedImage[] }
  'revision-unknown': { workload: string; pods: string[]; revision?: string }
  'rollout-in-progress': { workload: string; because: Reason; watch: Command }
  'template-drift': TemplateDrift
  /** `resolve`: reports the state that a person has seen. */
  'unreadable-journal': { pod: string; because: Reason; isOnRecord: boolean; resolve: Command }
  'unsupported-owner': {
    pods: string[]
    owner: { kind: string; name: string; apiVersion: string }
    upgrades: 'in-place-by-itself' | 'never' | 'by-manifest' | 'unknown'
  }
  'update-strategy': { workload: string; strategy: string; change: Command }
  /** Pods that an operator has out of rotation, or that are in no load balancer, fill the window permanently. */
  'window-full': {
    window: number
    operator: string[]
    operatorInPart: string[]
    unserved: string[]
    because?: Reason
    anyOut: boolean
  }
  'workload-deleting': { workload: string }
  'workload-gone': { workload: string }
  'workload-paused': { workload: string; resume: Command }
}

/** The codes of refusals. */
export type RefusalCode = keyof Refusals
