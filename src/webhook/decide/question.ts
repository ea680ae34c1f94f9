import type { PatchOperation } from '../../pods/patch-operation.ts'
import type { ClusterView, EndpointsKind } from '../cluster/cluster-view.ts'
import type { Facts, RequestFacts, Rule, RuleSet } from '../rules/rule-set.ts'
import type { RuleError } from '../rules/rules-error.ts'
import type { Decision, EndpointDecision } from './decision.ts'

export interface Question {
  readonly rules: RuleSet
  readonly kind: EndpointsKind
  /** The object that is about to be stored, as its writer wishes it. */
  readonly object: unknown
  /** The stored object that it replaces. Absent for a new object. */
  readonly old?: unknown
  readonly cluster: ClusterView
  /** In milliseconds since 1970. */
  readonly nowAt: number
  /** Absent for a second look, which no request causes. */
  readonly request?: RequestFacts
  /** Called before each endpoint. It throws where the decision has no more time, which ends the decision by the same error. */
  readonly assertInTime?: () => void
  /** Called for each rule and each endpoint, also for the rules after the one that decides. */
  readonly trace?: (said: RuleSaid) => void
  /** Called with the result for each endpoint, also where no rule decides. */
  readonly onEndpoint?: (entry: number, result: EndpointDecision) => void
}

/** What one rule says about one endpoint. */
export interface RuleSaid {
  /** The index of the endpoint in the object; of Endpoints by subset, ready addresses first. */
  readonly entry: number
  readonly rule: Rule
  readonly facts: Facts
  /**
   * - `no`: the condition is false.
   * - `failed`: the condition has no value.
   * - `keeps-nothing`: the condition of `keepPrevious` is true, and there is nothing to keep, or the time is over.
   * - `yes`: the rule decides, or it would where no rule before it did.
   */
  readonly says: 'no' | 'failed' | 'keeps-nothing' | 'yes'
  readonly failure?: RuleError
}

export interface Answer {
  readonly decision: Decision
  /** The object as it is to be stored: the same one where no rule changes it, and in mode `audit`. The input is never changed. */
  readonly object: unknown
  /** The operations that make that object of the given one. Empty where nothing changes, and in mode `audit`. */
  readonly patch: readonly PatchOperation[]
  /** The object to be stored has the content of `old`, so that the API server would write nothing. */
  readonly equalsOld: boolean
}

/** The form of `decide`, for those who get it handed. */
export type Decide = (question: Question) => Answer
