import type { Command } from './command.ts'
import type { NamedImage, NoFields } from './fields.ts'
import type { Reason } from './reason.ts'
import type { Difference } from './template-reasons.ts'

/** A part of a load balancer; without its scope all of it. */
export interface Place {
  loadBalancer: string
  scope?: string
}

/** Pods or a workload, as they are named to a person. */
export type Subject = { pods: string[] } | { workload: string }

/**
 * Pods that their owner would make anew on other images than the run gives them.
 * - `pod`: the only one of the owner that the run is about
 * - `made`: the kind of what makes the pods, such as ReplicaSet
 * - `by`: the kind that makes another one of those when its template changes; absent where none does
 * - `images`: those of the template that stay; empty where it is not read
 */
export interface TemplateDrift {
  owner: string
  pod?: string
  made: string
  by?: string
  images: NamedImage[]
}

/** Why a plan cannot be carried out. Nothing was touched. */
export interface Refusals {
  'container-twice': { container: string }
  'init-container': { of: Subject; container: string; known: string[] }
  'unknown-container': { of: Subject; container: string; known: string[] }
  /**
   * An earlier run has left something out of rotation.
   * - `half-done`: the pod is there; `not-asked`: and is none of this request
   * - `pod-gone`: the pod is gone, and its entry is drained; `pod-gone-unsure`: or may be
   * - `journal-lost`: the pod is there without its journal
   * - `gone-for-good`: no replacement was to come, and the entries stay out
   */
  'left-open': {
    run: string
    pod: string
    standing: 'half-done' | 'not-asked' | 'pod-gone' | 'pod-gone-unsure' | 'journal-lost' | 'gone-for-good'
    traffic?: Reason
    /** For a request by label: the workloads that go on with it. */
    workloads?: string[]
    /** Says how the entries of the pod stand. */
    resolve?: Command
  }
  /** The config does not have what an earlier run has on record. */
  'load-balancer-dropped': { loadBalancer: string; places: Place[]; run: string; pods: number; workloads: string[] }
  'min-ready-too-long': { workload: string; minReadyMs: number; readyDeadlineMs: number }
  'no-address': { pod: string; because: Reason }
  'no-image': { pod: string }
  'no-pods': NoFields
  /** `isThere`: the pod has entries there all the same. */
  'not-in-load-balancer': { pod: string; because: Reason; isThere: boolean }
  'restart-policy': { pods: string[]; policy: string }
  /** `images`: with these too, the template would be the pods'. */
  'revision-differs': { workload: string; pods: string[]; differences: Difference[]; images?: NamedImage[] }
  'revision-unknown': { workload: string; pods: string[]; revision?: string }
  'rollout-in-progress': { workload: string; because: Reason; watch: Command }
  'template-drift': TemplateDrift
  /** `resolve`: says what a person has seen. */
  'unreadable-journal': { pod: string; because: Reason; isOnRecord: boolean; resolve: Command }
  'unsupported-owner': {
    pods: string[]
    owner: { kind: string; name: string; apiVersion: string }
    upgrades: 'in-place-by-itself' | 'never' | 'by-manifest' | 'unknown'
  }
  'update-strategy': { workload: string; strategy: string; change: Command }
  /** Pods that are out by an operator or in no load balancer fill the window for good. */
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

/** Why a plan cannot be carried out. */
export type RefusalCode = keyof Refusals
