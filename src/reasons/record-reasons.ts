import type { Because, LoadBalancerEntry, NamedImage, NoFields } from './fields.ts'
import type { Reason, ReasonOf } from './reason.ts'

/** Why a journal or a ledger cannot be read. */
export interface RecordProblems {
  'record-not-json': NoFields
  /** Somebody has edited the journal: its checksum is wrong. */
  'record-edited': NoFields
  /** A newer sluice has written the record. */
  'record-newer': { version: number; reads: number }
  /** A newer sluice has written the record: it has what this one does not know, and must know to act on it. */
  'record-needs': { needs: string[] }
  /** `issues`: each field, and what is wrong with it. */
  'record-invalid': { issues: string }
  /** A ConfigMap of the ledger is missing. */
  'record-part-missing': { part: string }
  /** Which of the two journals of the pod it is. */
  'record-in': { place: 'annotation' | 'condition'; problem: RecordProblem }
}

export type RecordProblem = ReasonOf<keyof RecordProblems>

/** What records say of pods and runs: for `status`, `resolve` and `report`. */
export interface RecordReasons extends RecordProblems {
  /** The pod is not drained, since `drain.notFor` names these containers, which alone are changed. */
  'changes-without-drain': { containers: string[]; ready: boolean }
  /** The pod is drained, or about to be. */
  'may-be-drained': { entries: LoadBalancerEntry[] }
  'is-patched': { entries: LoadBalancerEntry[]; ready: boolean }
  /** The pod is about to be put back. */
  'may-be-put-back': { entries: LoadBalancerEntry[] }
  'nothing-open': NoFields
  'on-way-back': { images: NamedImage[] }
  'gone-and-drained': { entries: LoadBalancerEntry[] }

  /** A person has said where the traffic of the pod is; without load balancers, in all of them. */
  'said-of-pod': { traffic: 'in' | 'out'; loadBalancers: string[] }
  /** A person has said that the entries are as they should be (`in`), or are to stay out. */
  'said-of-entries': { traffic: 'in' | 'out'; entries: LoadBalancerEntry[] }
  /** Not everything is said. */
  'rest-unsaid': { entries: LoadBalancerEntry[] }

  /** The record of the pod is open: the next run goes on from there. */
  'said-and-open': { pod: string; traffic: 'in' | 'out' }
  /** The record of the pod is closed. `patchedAndUnready`: no run puts the pod back any more. */
  'said-and-closed': { pod: string; patchedAndUnready: boolean }
  /** Entries of a pod of that name which is gone. */
  'said-of-former-pod': { pod: string; entries: LoadBalancerEntry[]; traffic: 'in' | 'out' }

  'not-told': NoFields
  /** What a process of another run has done since. */
  'since-by-run': { run: string; outcome: string } & Because
  'at-instant': { reason: Reason; at: string }
  /** The end of what was open is not told: one of these has done it. */
  'end-not-told': { what: 'ended' | 'brought'; resolve: boolean; lostProcess: boolean }
  /** The entries of the pod were left out of rotation, for a person. */
  'left-to-person': NoFields
  'report-not-written': { path: string; said: string; run?: string }
  'closed-since': NoFields
  'nothing-open-at': { at: string }
  'same-command-goes-on': NoFields
  /** Nothing is on record of the run, or of a run of the workload. `unreadable`: runs that cannot be read may be newer. */
  'nothing-on-record-of': { of: { run: string } | { workload: string }; namespace: string; unreadable: string[] }
  'at-work-or-silent': NoFields
  'aborted-by': { by: string }
  'nothing-open-any-more': NoFields
  'since-then': { reason: Reason }
  'left-open-closed-at': { at: string }
  /** A reason with the code `of` was too long, or too deep, for the record that keeps it. */
  'too-long-for-record': { of: string }
  'phases-joined': { phases: number }
  /** The answer of a load balancer that cannot be read back. */
  'as-answered': NoFields
  'read-back-as-out': Because
  'read-back-as-before': { prior?: unknown }
}
