import type { HeirRule } from '../../pods/heir.ts'
import type { KindName } from '../../pods/workload-id.ts'
import type { RevisionRules } from '../revision-rules.ts'

/**
 * The way in which a kind's template and pods get other images.
 *
 * - `revisioned`: the template is patched first, then each pod, together with the label of the new revision, by which the controller counts
 *   the pod as updated. For controllers with ControllerRevisions that leave pods alone under the update strategy OnDelete
 * - `pods-alone`: only the pods are patched, because a change of the template would replace the pods. For controllers that make their pods
 *   through intermediate objects
 */
export type Mechanism = { type: 'revisioned'; revisions: RevisionRules } | { type: 'pods-alone'; through: Through }

/** The intermediate objects that a controller makes, which own the pods in place of the workload. */
export interface Through extends KindName {
  /** Derives the name of the workload from the name of the intermediate object, which may be gone together with the workload. */
  workloadName(name: string): string
}

/** One rule of a Role. */
export interface KindRight {
  group: string
  /** The plural name of the resource. */
  resource: string
  verbs: readonly string[]
  /** True for the workload itself; if its name is known, the rule is limited to that name. */
  isOfWorkload?: true
  /** The purpose of the right, in sentences for its granter. */
  why: string
}

/** True if sluice writes the template of this kind. For other kinds it changes the pods only. */
export function isTemplateWritten({ mechanism }: Pick<Kind, 'mechanism'>): boolean {
  return mechanism?.type === 'revisioned'
}

/** A kind of workload, with everything that sluice knows about it. Pure and cheap to load, because the command line uses it. */
export interface Kind extends KindName {
  /** Short names for `TYPE/NAME`, in lower case; the kind and the plural are accepted as well. */
  shortNames: readonly string[]
  /** Absent for pods: the mechanism of a pod is that of its owner, if it has one. */
  mechanism?: Mechanism
  /** The rule by which a pod replaces a pod of the same controller that is gone. */
  isHeir: HeirRule
  /** The ordinal that is upgraded first, among pods whose names differ in the ordinal only. */
  first: 'lowest' | 'highest'
  /** The rights of a run in addition to those of every run. */
  rights: readonly KindRight[]
}
