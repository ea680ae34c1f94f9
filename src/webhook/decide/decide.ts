import type { PatchOperation } from '../../pods/patch-operation.ts'
import type { ClusterView, EndpointsKind } from '../cluster/cluster-view.ts'
import type { RequestFacts, RuleSet } from '../rules/rule-set.ts'
import type { Decision } from './decision.ts'

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

/** Decides about each endpoint of an EndpointSlice or an Endpoints object. @throws ObjectError where the object is none of that kind */
export type Decide = (question: Question) => Answer
