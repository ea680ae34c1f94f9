import { CONTROL_PLANE_PARTS, ENDPOINT_OBJECT_KINDS } from '../observer/events.ts'
import { LEGS, OBSERVER_FINDING_CODES } from '../observer/told.ts'
import type { SourceProblemCode, SyncProblemCode } from '../sync/problems.ts'
import type { WriteEffect } from '../sync/sync-run.ts'
import { ADMISSION_RESULTS, type AdmissionResult, WAIT_OUTCOMES, type WaitOutcome } from '../webhook/admission/admission-event.ts'
import type { Effect } from '../webhook/rules/rule-set.ts'
import type { RulesProblem } from '../webhook/sources/rules-source.ts'

/** `addresses` stands for a write that has changed an address, a port or a hint. */
export const WRITE_EFFECTS = ['addresses', 'nothing'] as const

/** The legs of a copy. `seen-accepted` is the whole way, from the instant at which sync has seen a change. */
export const SYNC_LEGS = ['stated-seen', 'seen-decided', 'decided-sent', 'sent-accepted', 'seen-accepted'] as const
export const COPY_STATES = ['ready', 'not-ready', 'upgrading'] as const
const SYNC_WRITES: Readonly<Record<WriteEffect, true>> = { create: true, update: true, delete: true }
const SYNC_PROBLEMS: Readonly<Record<SyncProblemCode | SourceProblemCode, true>> = {
  'namespace-missing': true,
  'service-missing': true,
  'service-unmade': true,
  'service-has-selector': true,
  'service-external-name': true,
  'ports-unserved': true,
  'family-unserved': true,
  'source-external-name': true,
  'ports-differ': true,
  'addresses-twice': true,
  'addresses-uncopied': true,
  'source-without': true,
  'source-unnamed': true,
  'source-away': true,
  'source-expired': true,
  'kept-for-floor': true,
  'source-replaced': true,
  'foreign-slice': true,
  'other-sync': true,
  'altered-by-admission': true,
  'write-failed': true,
  'pods-unread': true,
  'identity-unread': true,
}

const RULE_EFFECTS: Readonly<Record<Effect, true>> = {
  ready: true,
  notReady: true,
  serving: true,
  remove: true,
  keepPrevious: true,
}
const RULES_PROBLEMS: Readonly<Record<RulesProblem['code'], true>> = {
  'source-away': true,
  'document-missing': true,
  'document-too-large': true,
  'document-refused': true,
  'signature-refused': true,
  'rules-flap': true,
  'cache-refused': true,
  'cache-foreign': true,
  'cache-unusable': true,
}

/** The values of each label. Names of Services, pods and nodes are no labels, since there are too many of them. */
export interface LabelValues {
  cluster: string
  /** Empty for a finding without a namespace. */
  namespace: string
  load_balancer: string
  code: (typeof OBSERVER_FINDING_CODES)[number]
  leg: (typeof LEGS)[number]
  object: (typeof ENDPOINT_OBJECT_KINDS)[number]
  part: (typeof CONTROL_PLANE_PARTS)[number]
  effect: (typeof WRITE_EFFECTS)[number]
  sync_leg: (typeof SYNC_LEGS)[number]
  state: (typeof COPY_STATES)[number]
  write: WriteEffect
  problem: SyncProblemCode | SourceProblemCode
  result: AdmissionResult
  wait: WaitOutcome
  /** The names in the rules that are in force, of which a document has few. */
  rule: string
  rule_effect: Effect
  rules_problem: RulesProblem['code']
  version: string
}

export type LabelName = keyof LabelValues

/** The labels with a closed set of values, and these values. */
export const CLOSED_LABELS: Partial<Record<LabelName, readonly string[]>> = {
  code: OBSERVER_FINDING_CODES,
  leg: LEGS,
  object: ENDPOINT_OBJECT_KINDS,
  part: CONTROL_PLANE_PARTS,
  effect: WRITE_EFFECTS,
  sync_leg: SYNC_LEGS,
  state: COPY_STATES,
  write: Object.keys(SYNC_WRITES),
  problem: Object.keys(SYNC_PROBLEMS),
  result: ADMISSION_RESULTS,
  wait: WAIT_OUTCOMES,
  rule_effect: Object.keys(RULE_EFFECTS),
  rules_problem: Object.keys(RULES_PROBLEMS),
}
