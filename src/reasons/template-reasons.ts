import type { Because, NoFields } from './fields.ts'
import type { ReasonOf } from './reason.ts'

/** A difference between two documents. A missing side is absent. */
export interface Difference {
  path: string
  before?: unknown
  after?: unknown
}

/** The conditions that the template of a workload waits for. */
export type Awaited = 'awaits-template-write' | 'awaits-generation' | 'awaits-revision'

/** The problems of the template of a workload, and the conditions that it waits for. */
export interface TemplateReasons {
  'workload-deleted': { workload: string }
  'workload-going': { workload: string }
  'strategy-changed': { workload: string; now: string; expected: string }
  /** Another client has changed the template. */
  'template-changed': { workload: string; differences: Difference[] }
  /** Admission has rewritten the template. */
  'template-stored-otherwise': Because
  'template-refused': { workload: string } & Because
  'template-not-in-time': { workload: string; deadlineMs: number; waiting: ReasonOf<Awaited> } & Because
  'awaits-template-write': NoFields
  'awaits-generation': { kind: string; generation: number; observed: number }
  /** `newest`: the newest revision, if it differs from the template. */
  'awaits-revision': { newest?: { name: string; differences: Difference[] } }
  'revision-is-another': { workload: string; revision: string; differences: Difference[] }
  'template-patched': NoFields
  'pods-take-revision': { revision: string }
  'fence-not-set': Because
  'owner-changed': { workload: string }
  'template-left': { workload: string } & Because
  /** Another client has set an image that is not the run's. */
  'template-edited': { workload: string; container: string; image: string }
  'no-former-image': { workload: string; container: string }
  'not-prepared': { workload: string }
  'unknown-kind': { workload: string }
  'no-such-workload': { workload: string; namespace: string }
  'not-allowed': { verbs: string[]; resource: string; namespace: string }
  'refused-by-api-server': Because
}
