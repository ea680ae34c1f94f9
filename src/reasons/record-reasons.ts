import type { Because, LoadBalancerEntry, NamedImage, NoFields } from './fields.ts'
import type { Reason, ReasonOf } from './reason.ts'

/** The reasons why a journal or a ledger is not readable. */
export interface RecordProblems {
  'record-not-json': NoFields
  /** The checksum of the journal is wrong, because the journal was edited. */
  'record-edited': NoFields
  /** A newer sluice has written the record. */
  'record-newer': { version: number; reads: number }
  /** A newer sluice has written the record, with content that this sluice does not know and would need. */
  'record-needs': { needs: string[] }
  /** `issues`: each field, and its problem. */
  'record-invalid': { issues: string }
  /** A ConfigMap of the ledger is missing. */
  'record-part-missing': { part: string }
  /** `place`: the place of the pod's journal with the problem. */
  'record-in': { place: 'annotation' | 'condition'; problem: RecordProblem }
}

export type RecordProblem = ReasonOf<keyof RecordProblems>

/** The statements of records about pods and runs, for `status`, `resolve` and `report`. */
export interface RecordReasons extends RecordProblems {
  /** The pod is not drained, because only these containers change, and `drain.notFor` names them. */
  'changes-without-drain': { containers: string[]; ready: boolean }
  /** The pod is drained, or about to be. */
  'may-be-drained': { entries: LoadBalancerEntry[] }
  'is-patched': { entries: LoadBalancerEntry[]; ready: boolean }
  /** The pod is about to be put back. */
  'may-be-put-back': { entries: LoadBalancerEntry[] }
  'nothing-open': NoFields
  'on-way-back': { images: NamedImage[] }
  'gone-and-drained': { entries: LoadBalancerEntry[] }

  /** A person has reported the traffic of the pod; without load balancers, for all of them. */
  'said-of-pod': { traffic: 'in' | 'out'; loadBalancers: string[] }
  /** A person has reported that the entries are as they should be (`in`), or that they stay out. */
  'said-of-entries': { traffic: 'in' | 'out'; entries: LoadBalancerEntry[] }
  /** The report of a person is incomplete; these entries are left. */
  'rest-unsaid': { entries: LoadBalancerEntry[] }

  /** The record of the pod is open; the next run goes on from there. */
  'said-and-open': { pod: string; traffic: 'in' | 'out' }
  /** The record of the pod is closed. `patchedAndUnready`: no run puts the pod back any more. */
  'said-and-closed': { pod: string; patchedAndUnready: boolean }
  /** The entries of a former pod of that name, which is gone. */
  'said-of-former-pod': { pod: string; entries: LoadBalancerEntry[]; traffic: 'in' | 'out' }

  'not-told': NoFields
  /** The later outcome of the pod in another run. */
  'since-by-run': { run: string; outcome: string } & Because
  'at-instant': { reason: Reason; at: string }
  /** The end of the open work is not reported; one of these has done it. */
  'end-not-told': { what: 'ended' | 'brought'; resolve: boolean; lostProcess: boolean }
  /** The entries of the pod were left out of rotation, for a person to decide. */
  'left-to-person': NoFields
  'report-not-written': { path: string; said: string; run?: string }
  'closed-since': NoFields
  'nothing-open-at': { at: string }
  'same-command-goes-on': NoFields
  /** The run, or a run of the workload, is not on record. `unreadable`: runs that are not readable and may be newer. */
  'nothing-on-record-of': { of: { run: string } | { workload: string }; namespace: string; unreadable: string[] }
  'at-work-or-silent': NoFields
  'aborted-by': { by: string }
  'nothing-open-any-more': NoFields
  'since-then': { reason: Reason }
  'left-open-closed-at': { at: string }
  /** A reason with the code `of` was too long, or nested too deeply, for the record. */
  'too-long-for-record': { of: string }
  'phases-joined': { phases: number }
  /** The answer of a load balancer that is not readable. */
  'as-answered': NoFields
  'read-back-as-out': Because
  'read-back-as-before': { prior?: unknown }
}
