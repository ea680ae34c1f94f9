import type { HeirRule } from '../../pods/heir.ts'
import type { KindName } from '../../pods/workload-id.ts'
import type { RevisionRules } from '../revision-rules.ts'

/**
 * How a kind's template and pods are brought to other images.
 *
 * - `revisioned`: its template is patched, then each pod together with the label of the new revision, by which the
 *   controller counts it as updated. For controllers with ControllerRevisions that leave pods alone under the update
 *   strategy OnDelete
 * - `pods-alone`: a change of its template would replace the pods, so that only the pods are patched. For controllers that make
 *   their pods through other objects
 */
export type Mechanism = { type: 'revisioned'; revisions: RevisionRules } | { type: 'pods-alone'; through: Through }

/** What a controller makes, and what owns the pods in the place of the workload. */
export interface Through extends KindName {
  /** The name of the workload, by that of what it has made: what owned a pod may be gone with it. */
  workloadName(name: string): string
}

/** One rule of a Role. */
export interface KindRight {
  group: string
  /** Plural. */
  resource: string
  verbs: readonly string[]
  /** For the workload itself: where its name is known, for it alone. */
  isOfWorkload?: true
  /** Sentences for whoever grants it. */
  why: string
}

/** Of others, sluice changes the pods alone. */
export function isTemplateWritten({ mechanism }: Pick<Kind, 'mechanism'>): boolean {
  return mechanism?.type === 'revisioned'
}

/** A kind of workload: all that sluice knows of it. Pure, and cheap to load: the command line is read by it. */
export interface Kind extends KindName {
  /** For `TYPE/NAME`, beside the kind and the plural, in lower case. */
  shortNames: readonly string[]
  /** Absent for pods: what stands above them decides, or nothing does. */
  mechanism?: Mechanism
  /** Which pod of the same controller has come in the place of one that is gone. */
  isHeir: HeirRule
  /** The ordinal of the pod that is upgraded first, among pods of one stem. */
  first: 'lowest' | 'highest'
  /** What a run needs beside the rights of every run. */
  rights: readonly KindRight[]
}
